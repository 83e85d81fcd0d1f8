/** The only client for Postgres, server or embedded: types, time-outs and how values are parsed. */
import { connect as connectSocket, type Socket } from 'node:net';
import postgres, { type ISql } from 'postgres';
import { pacedSocket } from './paced-socket.ts';

/** `bigint` columns (Unix ms, byte counts, sequence numbers) are numbers: all of ours stay below 2^53. */
export type Sql = postgres.Sql<{ bigint: number }>;
/** Runs queries: the pool, or one open transaction. */
export type Queries = ISql<{ bigint: number }>;
/** A statement that is not sent yet; it can be part of another. */
export type Statement = postgres.PendingQuery<postgres.Row[]>;
/** Inside `sql.begin`. Hand it to every query of the transaction: on the embedded database another connection waits for its end. */
export type Transaction = postgres.TransactionSql<{ bigint: number }>;

/** `sockets`: receives the connections, so that they can be cut where the server hangs. */
export type SqlTarget = { readonly url: string; readonly sockets?: Lines } | { readonly socketPath: string };

/** The connections to a server. A connection whose server hangs or has vanished reports nothing for minutes; its queries end when it is cut. */
export class Lines {
  readonly #open = new Set<Socket>();
  wereCut = false;
  #next = 0;

  /** Connects to the next of the hosts, as the client does by itself. */
  open({
    host,
    port,
    path,
    ssl,
  }: {
    readonly host: readonly string[];
    readonly port: readonly number[];
    readonly path: string | false;
    readonly ssl: unknown;
  }): Socket {
    for (const socket of this.#open) if (socket.destroyed) this.#open.delete(socket);
    const at = this.#next++ % port.length;
    const target = { host: host[at] ?? 'localhost', port: port[at] ?? 5432 };
    // The client sends its first message at once; it leaves when the connection is made.
    const end = path ? { path } : target;
    const socket = ssl ? connectSocket(end) : pacedSocket(end);
    this.#open.add(socket);
    // The client takes the name for TLS from here.
    return Object.assign(socket, target);
  }

  cut(): void {
    this.wereCut = true;
    for (const socket of this.#open) {
      // The client loses a query that it sends between the error and the close of a connection, so an open one is closed without an error.
      // One that was not made yet needs the error, or the client would try it again and again with the same query.
      if (socket.bytesRead > 0) socket.destroy();
      else socket.destroy(Object.assign(new Error('the database does not answer'), { code: 'CONNECTION_DESTROYED' }));
    }
    this.#open.clear();
  }
}

const CONNECT_TIMEOUT_S = 10;
/** Longest pause between attempts to connect, so that the service is back soon after its database. */
const RECONNECT_MAX_S = 1;
/** Our queries take milliseconds; one that runs this long may hold locks that others wait for. */
const STATEMENT_TIMEOUT_MS = 30_000;

export interface ConnectOptions {
  /** For statements that callers shape: a server cancels them after that time, and JIT is off, because compiling would cost more than it saves. */
  readonly statementMsMax?: number;
  /** For statements whose plan does not depend on their values and takes long to find: a server plans each once. */
  readonly plansOnce?: boolean;
}

export function connect(target: SqlTarget, connectionsMax: number, { statementMsMax, plansOnce = false }: ConnectOptions = {}): Sql {
  const options = {
    max: connectionsMax,
    // The client asks for the types of arrays as it connects, and nobody hears where that statement takes too long. Statements of callers pass none.
    fetch_types: statementMsMax === undefined,
    connect_timeout: CONNECT_TIMEOUT_S,
    backoff: (retries: number) => Math.min(3 ** retries / 100, RECONNECT_MAX_S),
    // Notices carry no failures, only texts such as "relation exists, skipping".
    onnotice: () => undefined,
    types: { bigint: { to: 20, from: [20], parse: Number, serialize: String } },
  };
  if ('socketPath' in target) {
    const { socketPath } = target;
    const ours = { socket: () => pacedSocket({ path: socketPath }) };
    return postgres({ ...options, ...ours, path: socketPath, user: 'postgres', database: 'postgres', ssl: false });
  }
  const { sockets } = target;
  const ours = sockets === undefined ? {} : { socket: (to: Parameters<Lines['open']>[0]) => sockets.open(to) };
  return postgres(target.url, {
    ...options,
    ...ours,
    connection: {
      application_name: 'easel',
      statement_timeout: statementMsMax ?? STATEMENT_TIMEOUT_MS,
      ...((statementMsMax !== undefined || plansOnce) && { jit: false }),
      ...(plansOnce && { plan_cache_mode: 'force_generic_plan' }),
      idle_in_transaction_session_timeout: STATEMENT_TIMEOUT_MS,
    },
  });
}

/**
 * Steps of one transaction that do not wait for each other's answers: their statements are sent together, and run in the order in which they are
 * sent. Settles when all have ended, so that none goes on after a rollback. Throws what failed first: the others then only say that the transaction
 * has failed.
 */
export async function pipelined<T extends readonly Promise<unknown>[]>(steps: readonly [...T]): Promise<{ [K in keyof T]: Awaited<T[K]> }> {
  const all = Promise.all(steps);
  await Promise.allSettled([all, ...steps]);
  return all;
}

/** SQLSTATE of a database error, or undefined for any other error (connection lost, time-out, a bug). */
export function sqlState(error: unknown): string | undefined {
  return error instanceof postgres.PostgresError ? error.code : undefined;
}
