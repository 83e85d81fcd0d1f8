/** What a connection reaches, and as whom: from one that is stored or only given. */
import { Failure } from '../../../../../protocol/core/errors.ts';
import type { WorkspaceId } from '../../../../../protocol/core/ids.ts';
import type { ConnectionAuth, ConnectionType } from '../../../../../protocol/library/connections.ts';
import type { Egress } from '../../../../egress/egress.ts';
import { EgressFailure } from '../../../../egress/failure.ts';

export type Credentials = Readonly<Record<string, string>>;

export interface Target {
  readonly type: ConnectionType;
  readonly authType: ConnectionAuth;
  /** Checked against the schema of its type. */
  readonly config: Readonly<Record<string, unknown>>;
  /** Null where there are none. */
  readonly credentials: Credentials | null;
}

/** Whom it calls, with the port where that is not the usual one of a URL. */
export function hostOf({ type, config }: Target): string {
  switch (type) {
    case 'postgres':
      return `${String(config.host)}:${String(config.port)}`;
    case 'http':
      return new URL(String(config.url)).host;
    case 's3':
      return new URL(String(config.endpoint)).host;
    default:
      return type satisfies never;
  }
}

/** The way to it. */
export interface Reach {
  readonly egress: Pick<Egress, 'fetch' | 'dial' | 'trusted'>;
  /** Whose share of the calls to the outside it takes. */
  readonly share: WorkspaceId;
  readonly signal: AbortSignal;
}

/** Why a connection does not do what is asked. `message` may be shown: it names no secret. */
export class SourceFailure extends Error {
  override readonly name = 'SourceFailure';
  /** Trying again cannot help. */
  readonly isFinal: boolean;

  constructor(message: string, { isFinal = true, cause }: { readonly isFinal?: boolean; readonly cause?: unknown } = {}) {
    super(message, { cause });
    this.isFinal = isFinal;
  }
}

/** Throws SourceFailure where there are no credentials to sign in with. */
export function requireCredentials({ authType, credentials }: Target): Credentials {
  if (authType !== 'none' && credentials === null) throw new SourceFailure('There are no credentials to connect with.');
  return credentials ?? {};
}

/** What others said, such as a database about a query, with every secret taken out. */
export function withoutSecrets(message: string, credentials: Credentials | null): string {
  return Object.values(credentials ?? {}).reduce((text, secret) => text.replaceAll(secret, '********'), message);
}

/** For the caller of a test. Throws UNAVAILABLE where too many calls are under way, and what is no failure of the connection. */
export function whatIsWrong(error: unknown): string {
  if (error instanceof EgressFailure && error.reason === 'busy') {
    throw new Failure('UNAVAILABLE', { message: error.message, retryAfterS: 1 });
  }
  if (error instanceof EgressFailure) return error.advice;
  if (error instanceof SourceFailure || error instanceof Failure) return error.message;
  throw error;
}
