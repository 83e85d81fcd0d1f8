/**
 * Reads a Postgres database: one query in a read-only transaction, by a cursor. The connection goes to the address that the guarded egress has
 * decided on; TLS is negotiated here, so that what goes wrong can be told.
 */
import postgres from 'postgres';
import { LIMITS } from '../../../../../protocol/core/limits.ts';
import { EgressFailure } from '../../../../egress/failure.ts';
import { dialPostgres, type PostgresPlace } from './postgres-dial.ts';
import { PostgresLine } from './postgres-line.ts';
import { distinctNames, type Row, type Scalar } from './rows.ts';
import { type Reach, requireCredentials, SourceFailure, type Target, withoutSecrets } from './target.ts';

interface PostgresConfig extends PostgresPlace {
  readonly database: string;
}

export interface QueryWanted {
  readonly query: string;
  /** Rows come in its order, without those that have none. */
  readonly cursorColumn: string | undefined;
  /** Only rows beyond it. */
  readonly after: Scalar | undefined;
}

/** Throws EgressFailure, SourceFailure, and the reason of the signal. */
export async function testPostgres(reach: Reach, target: Target): Promise<string> {
  const session = await openSession(reach, target);
  let isEnded = false;
  try {
    await session.begin();
    const [row] = await session.sql.unsafe(`select current_setting('server_version') as version`);
    isEnded = true;
    return `Postgres ${String(row?.version ?? '')} answered.`;
  } catch (error) {
    isEnded ||= error instanceof postgres.PostgresError;
    throw failureOf(error, target, reach.signal);
  } finally {
    await session.close(isEnded);
  }
}

/** Throws as `testPostgres` does. The connection ends with the iteration. */
export async function* postgresRows(reach: Reach, target: Target, wanted: QueryWanted): AsyncGenerator<Row> {
  const session = await openSession(reach, target);
  let isEnded = false;
  try {
    await session.begin();
    const { text, values } = statementOf(wanted);
    let names: readonly string[] | undefined;
    // As lists of values: an object would keep one of two columns that have the same name.
    for await (const batch of session.sql.unsafe(text, values).values().cursor(LIMITS.connectionBatchRows)) {
      session.expectMore();
      // Only the first batch brings them.
      names ??= distinctNames((batch as unknown as Columned).columns.map(({ name }) => name));
      yield* rowsUnder(names, batch);
    }
    // Also in a transaction that only reads a query can do what a commit makes lasting: make a large object, notify.
    // The answer is looked at because a cursor whose connection is lost between two batches ends like one that has no more rows.
    const { command } = await session.sql.unsafe('rollback');
    isEnded = true;
    if (command !== 'ROLLBACK') throw new SourceFailure('The database ended the transaction.', { isFinal: false });
  } catch (error) {
    isEnded ||= error instanceof postgres.PostgresError;
    throw failureOf(error, target, reach.signal);
  } finally {
    await session.close(isEnded);
  }
}

type Columned = Pick<postgres.ValuesRowList<never>, 'columns'>;

function* rowsUnder(names: readonly string[], batch: readonly (readonly unknown[])[]): Generator<Row> {
  for (const cells of batch) yield Object.fromEntries(names.map((name, column) => [name, cells[column]]));
}

/** As a subquery, so that only what selects rows can be asked. It is sent by the extended protocol, which takes one statement. */
function statementOf({ query, cursorColumn, after }: QueryWanted): { readonly text: string; readonly values: string[] } {
  const inner = `select * from (\n${query.replace(/;\s*$/, '')}\n) as q`;
  if (cursorColumn === undefined) return { text: inner, values: [] };
  const column = `q."${cursorColumn.replaceAll('"', '""')}"`;
  const bound = after === undefined ? `${column} is not null` : `${column} > $1`;
  return { text: `${inner} where ${bound} order by ${column}`, values: after === undefined ? [] : [String(after)] };
}

interface Session {
  readonly sql: postgres.Sql;
  begin(): Promise<void>;
  /** The next batch may be as large as the last one. */
  expectMore(): void;
  /** A server works on a query to its end although nobody waits for it any more, so one that has not ended is cancelled. */
  close(isQueryEnded: boolean): Promise<void>;
}

async function openSession(reach: Reach, target: Target): Promise<Session> {
  const { username = '', password = '' } = requireCredentials(target);
  const config = target.config as unknown as PostgresConfig;
  const { host, port, database } = config;
  const { bare, socket, cancel } = await dialPostgres(reach, config);
  const line = new PostgresLine(socket);
  let batchBytes = 0;
  socket.on('data', (chunk: Buffer) => {
    batchBytes += chunk.length;
    if (batchBytes <= LIMITS.connectionBatchBytesMax) return;
    line.destroy(
      new SourceFailure(`${LIMITS.connectionBatchRows} rows of the query take more than ${LIMITS.connectionBatchBytesMax} bytes.`),
    );
  });
  let isTaken = false;
  // The client takes a socket from here, though its types do not know of it. A connection that is lost is not made again.
  const ours = {
    socket: () => {
      if (isTaken || line.destroyed) throw line.errored ?? new SourceFailure('The database ended the connection.', { isFinal: false });
      isTaken = true;
      return line;
    },
  };
  const sql = postgres({
    ...ours,
    host,
    port,
    database,
    // Nobody, where nothing is stored: not the account that this process runs as.
    username: username === '' ? 'postgres' : username,
    password: answeredOnce(password),
    ssl: false,
    max: 1,
    prepare: false,
    fetch_types: false,
    connect_timeout: LIMITS.connectionTestMs / 1000,
    onnotice: () => undefined,
    connection: { application_name: 'easel' },
    types: TYPES,
  });
  return {
    sql,
    begin: async () => {
      await sql.unsafe('begin transaction read only');
      await sql.unsafe(
        `set local statement_timeout = ${LIMITS.connectionQueryMs}; set local timezone = 'UTC'; set local datestyle = 'ISO'`,
      );
    },
    expectMore: () => {
      batchBytes = 0;
    },
    close: async (isQueryEnded) => {
      // First, so that the way that cancels is not one more of those that this share may have.
      bare.destroy();
      line.destroy();
      void sql.end({ timeout: 0 }).catch(() => undefined);
      if (!isQueryEnded && line.cancelKey !== undefined) await cancel(line.cancelKey);
    },
  };
}

/** A function even where nothing is stored: in place of an empty text the client would send the PGPASSWORD of this process. */
function answeredOnce(password: string): () => string {
  const answers = [password];
  // Throwing here would end the process: the client does not await it.
  return () => answers.pop() ?? '';
}

/** Messages of what people write into a query are the database's own: they say where the mistake is. */
const BY_STATE: readonly (readonly [RegExp, string])[] = [
  [/^28/, 'The database does not accept the credentials.'],
  [/^57014$/, `The query took longer than ${LIMITS.connectionQueryMs / 1000} s.`],
  [/^25006$/, 'The query writes; connections only read.'],
  [/^53300$/, 'The database has no connection free.'],
];

function failureOf(error: unknown, { config, credentials }: Target, signal: AbortSignal): unknown {
  if (signal.aborted) return signal.reason;
  if (error instanceof SourceFailure || error instanceof EgressFailure) return error;
  if (!(error instanceof postgres.PostgresError)) {
    const { code } = error as { readonly code?: unknown };
    // A mistake of our own has no code.
    if (typeof code !== 'string') return error;
    if (code.startsWith('SASL') || code.startsWith('AUTH')) return new SourceFailure('The database signs in in a way that is not known.');
    return new SourceFailure('The database ended the connection.', { isFinal: false });
  }
  if (error.code === '3D000') return new SourceFailure(`There is no database "${String(config.database)}".`);
  const known = BY_STATE.find(([state]) => state.test(error.code))?.[1];
  return new SourceFailure(known ?? `The database refuses: ${withoutSecrets(error.message, credentials)}`, {
    isFinal: isOfTheQuery(error) || !/^(?:53|57|08|40)/.test(error.code),
  });
}

/** A parameter that has no value, such as `$1`, breaks the protocol. Poolers give up a connection with the same code, but then it has ended. */
function isOfTheQuery({ code, severity }: postgres.PostgresError): boolean {
  return code === '08P01' && severity === 'ERROR';
}

const asSent = (value: unknown): string => String(value);
const typed = (from: number[], parse: (text: string) => unknown) => ({ to: from[0] ?? 0, from, serialize: asSent, parse });

/** Values as JSON has them, and exact: what a double cannot hold stays a text. Parameters are sent as they came. */
const TYPES = {
  boolean: typed([16], (text) => text === 't'),
  number: typed([701, 20, 21, 23, 26, 700, 1700], numberOf),
  json: typed([114, 3802], (text): unknown => JSON.parse(text)),
  bytes: typed([17], asSent),
  date: typed([1082], asSent),
  // 2026-01-05 09:30:00.123456 and with +00: as RFC 3339 has them.
  timestamp: typed([1114], (text) => text.replace(' ', 'T')),
  timestamptz: typed([1184], (text) => text.replace(' ', 'T').replace(/[+]00$/, 'Z')),
};

function numberOf(text: string): number | string {
  const number = Number(text);
  if (!Number.isFinite(number)) return text;
  const digits = text
    .replace(/^-?0*\.?0*/, '')
    .replace(/e.*$/i, '')
    .replace('.', '');
  return digits.length <= 15 || String(number) === text ? number : text;
}
