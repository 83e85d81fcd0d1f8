/** Decisions about blobs that need neither the actor nor the database. */
import type { Principal } from '../../../../actors/access/access.ts';
import { Failure } from '../../../../protocol/core/errors.ts';
import { isAllowedBlobType } from '../../../../protocol/data/blobs.ts';
import type { UploadRow } from './rows.ts';

/** The type in lowercase and without parameters. Throws INVALID_MIME_TYPE for a type that blobs may not have. */
export function requireBlobType(given: string): string {
  const type = given.split(';')[0]?.trim().toLowerCase() ?? '';
  if (!isAllowedBlobType(type)) throw wrongType(`Blobs cannot have the type ${type}.`);
  return type;
}

export function wrongType(message: string): Failure {
  return new Failure('INVALID_MIME_TYPE', { message, param: 'mimeType' });
}

/** Throws INVALID_REQUEST. */
export function requireDeclaredSize({ declaredBytes }: Pick<UploadRow, 'declaredBytes'>, sizeBytes: number): void {
  if (declaredBytes === null || declaredBytes === sizeBytes) return;
  throw new Failure('INVALID_REQUEST', { message: `The file has ${sizeBytes} bytes, not the declared ${declaredBytes}.`, param: 'size' });
}

/** The account or the agent that a blob records as its creator. */
export function creatorOf(principal: Principal): string | null {
  switch (principal.kind) {
    case 'user':
      return principal.userId;
    case 'agent':
      return principal.principalId;
    case 'anonymous':
    case 'guest':
      return null;
    default:
      return principal satisfies never;
  }
}
