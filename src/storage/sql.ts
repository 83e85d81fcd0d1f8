/** The one client for Postgres, server or embedded: types, time-outs and what is parsed how. */
import postgres, { type ISql } from 'postgres';

/** `bigint` columns (Unix ms, byte counts, sequence numbers) are numbers: all of ours stay below 2^53. */
export type Sql = postgres.Sql<{ bigint: number }>;
/** What a query runs on: the pool, or one open transaction. */
export type Queries = ISql<{ bigint: number }>;
/** Inside `sql.begin`. Hand it to every query of the transaction: on the embedded database another connection waits for its end. */
export type Transaction = postgres.TransactionSql<{ bigint: number }>;

export type SqlTarget = { readonly url: string } | { readonly socketPath: string };

const CONNECT_TIMEOUT_S = 10;
/** A query of ours takes milliseconds; one that takes this long holds locks that others wait for. */
const STATEMENT_TIMEOUT_MS = 30_000;

/** `statementMsMax`: for statements that callers shape; a server ends them after that and never compiles them, which would cost more than it saves. */
export function connect(target: SqlTarget, connectionsMax: number, statementMsMax?: number): Sql {
  const options = {
    max: connectionsMax,
    connect_timeout: CONNECT_TIMEOUT_S,
    // Notices say things like "relation exists, skipping"; failures come as errors.
    onnotice: () => undefined,
    types: { bigint: { to: 20, from: [20], parse: Number, serialize: String } },
  };
  if ('socketPath' in target) {
    return postgres({ ...options, path: target.socketPath, user: 'postgres', database: 'postgres', ssl: false });
  }
  return postgres(target.url, {
    ...options,
    connection: {
      application_name: 'easel',
      statement_timeout: statementMsMax ?? STATEMENT_TIMEOUT_MS,
      ...(statementMsMax !== undefined && { jit: false }),
      idle_in_transaction_session_timeout: STATEMENT_TIMEOUT_MS,
    },
  });
}

/** SQLSTATE of a database error, or undefined for any other error (connection lost, time-out, a bug). */
export function sqlState(error: unknown): string | undefined {
  return error instanceof postgres.PostgresError ? error.code : undefined;
}
