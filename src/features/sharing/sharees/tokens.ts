/** The SQL of `external_token`. How a token is read when it is used is in features/people/tokens. */
import type { ExternalId, ShareeId, TokenId, UserId } from '../../../../protocol/core/ids.ts';
import type { PageKey } from '../../../edge/paging.ts';
import type { Bus } from '../../../platform/bus.ts';
import type { Queries } from '../../deps.ts';
import { credentialName } from '../../people/tokens/kinds.ts';

export interface ExternalTokenRow {
  readonly id: TokenId;
  readonly name: string | null;
  readonly created_at_ms: number;
  readonly last_used_at_ms: number | null;
  readonly expires_at_ms: number | null;
}

/** Newest first, expired ones included. */
export function listExternalTokens(sql: Queries, shareeId: ShareeId, id: ExternalId, after: PageKey, rowsMax: number) {
  return sql<ExternalTokenRow[]>`
    select id, name, created_at_ms, last_used_at_ms, expires_at_ms from external_token
    where external_id = ${id} and sharee_id = ${shareeId} and revoked_at_ms is null
      and (created_at_ms < ${after.number} or (created_at_ms = ${after.number} and id > ${after.id}))
    order by created_at_ms desc, id limit ${rowsMax}`;
}

export async function countExternalTokens(sql: Queries, shareeId: ShareeId, id: ExternalId): Promise<number> {
  const [row] = await sql<{ total: number }[]>`
    select count(*)::int as total from external_token where external_id = ${id} and sharee_id = ${shareeId} and revoked_at_ms is null`;
  return row?.total ?? 0;
}

export interface NewExternalToken extends Omit<ExternalTokenRow, 'last_used_at_ms'> {
  readonly externalId: ExternalId;
  readonly shareeId: ShareeId;
  readonly sha256: Buffer;
  readonly createdBy: UserId;
}

export async function insertExternalToken(tx: Queries, spec: NewExternalToken): Promise<void> {
  await tx`
    insert into external_token (id, external_id, sharee_id, name, token_sha256, created_by, created_at_ms, expires_at_ms)
    values (${spec.id}, ${spec.externalId}, ${spec.shareeId}, ${spec.name}, ${spec.sha256}, ${spec.createdBy}, ${spec.created_at_ms},
      ${spec.expires_at_ms})`;
}

/** What the bus must name once it has ended. */
export interface EndedToken {
  readonly id: TokenId;
  readonly token_sha256: Buffer;
}

/** Of everybody in the organisation, of one of its people, or one token. */
export function revokeExternalTokens(
  tx: Queries,
  of: { readonly shareeId: ShareeId; readonly externalId?: ExternalId; readonly id?: TokenId },
  nowMs: number,
): Promise<EndedToken[]> {
  return tx<EndedToken[]>`
    update external_token set revoked_at_ms = ${nowMs}
    where sharee_id = ${of.shareeId} and revoked_at_ms is null
      and (${of.externalId === undefined} or external_id = ${of.externalId ?? ''}) and (${of.id === undefined} or id = ${of.id ?? ''})
    returning id, token_sha256`;
}

/** Call it after the commit. */
export function tellRevoked(bus: Bus, ended: readonly EndedToken[]): void {
  for (const { id, token_sha256 } of ended)
    bus.tell({ kind: 'token.revoked', tokenId: id, credential: credentialName('external', token_sha256) });
}
