/** Tells errors of a dependency that is gone or late from bugs. */
import postgres from 'postgres';

/** The object store does not answer, or not in time. */
export class StoreUnavailable extends Error {
  override readonly name = 'StoreUnavailable';
}

/** Codes of the client for Postgres and of the system for a connection that failed, ended or was not made in time. */
const CONNECTION_CODES = new Set([
  'CONNECTION_CLOSED',
  'CONNECTION_DESTROYED',
  'CONNECTION_ENDED',
  'CONNECT_TIMEOUT',
  'ECONNREFUSED',
  'ECONNRESET',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EPIPE',
  'ETIMEDOUT',
]);
/** SQLSTATE classes: connection exception, operator intervention (a server that starts or stops), insufficient resources. */
const AWAY_CLASSES = new Set(['08', '57P', '53']);

/** The name of the dependency that is away, undefined for any other error. */
export function unavailableDependency(error: unknown): 'database' | 'objects' | undefined {
  if (error instanceof StoreUnavailable) return 'objects';
  if (!(error instanceof Error) || !('code' in error) || typeof error.code !== 'string') return undefined;
  if (error instanceof postgres.PostgresError) {
    return AWAY_CLASSES.has(error.code.slice(0, 2)) || AWAY_CLASSES.has(error.code.slice(0, 3)) ? 'database' : undefined;
  }
  return CONNECTION_CODES.has(error.code) ? 'database' : undefined;
}

const QUERY_CANCELED = '57014';

/**
 * Whether a statement ran longer than our connections allow. A statement that somebody has cancelled has the same code and only another text; where
 * the server writes another language than English the two cannot be told apart, and neither is taken for a time-out.
 */
export function isLateStatement(error: unknown): boolean {
  return error instanceof postgres.PostgresError && error.code === QUERY_CANCELED && error.message.includes('statement timeout');
}

/** Whether the object store could not be reached, or says that it cannot serve now. */
export function isStoreAway(error: unknown): boolean {
  if (!(error instanceof Error) || !('code' in error) || typeof error.code !== 'string') return false;
  return CONNECTION_CODES.has(error.code) || STORE_CODES.has(error.code);
}

/** Codes of S3, and of a disk that is gone. */
const STORE_CODES = new Set([
  'InternalError',
  'ServiceUnavailable',
  'SlowDown',
  'RequestTimeout',
  'UnknownError',
  'EIO',
  'ESTALE',
  'ENODEV',
]);
