/**
 * Connections as jobs use them: rows of a query, a resource or an object. Who has made the job is asked for their access each time, and every
 * use is in the record of the workspace before anything is sent.
 */
import { Failure } from '../../../../protocol/core/errors.ts';
import type { ArtifactId, ConnectionId, JobId, UserId } from '../../../../protocol/core/ids.ts';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import type { Queries } from '../../deps.ts';
import type { ModuleDeps } from '../../module.ts';
import type { Accounts } from '../../people/accounts/rules.ts';
import { audit } from '../../workspaces/audit/audit.ts';
import { deadline } from './deadline.ts';
import { noteUse, readSecrets, readUsable, type UsableRow } from './rows.ts';
import { fetchHttp } from './sources/http.ts';
import { postgresRows } from './sources/postgres.ts';
import { cursorValue, isBeyond, type Row, rowsOfBytes, type Scalar, type SourceFormat } from './sources/rows.ts';
import { fetchS3 } from './sources/s3.ts';
import { type Reach, SourceFailure, type Target } from './sources/target.ts';
import { storedTarget } from './testing.ts';

/** What is read through a connection. */
export interface SourceConfig {
  readonly connection_id: ConnectionId;
  readonly query?: string;
  readonly path?: string;
  readonly key?: string;
  readonly format?: SourceFormat;
  readonly rows?: string;
  readonly cursor_column?: string;
  readonly cursor_param?: string;
}

/** Who uses it, and for what. */
export interface ConnectionUser {
  readonly userId: UserId;
  /** Of the person. */
  readonly accounts: Accounts;
  readonly artifactId: ArtifactId;
  readonly jobId: JobId;
  readonly runId: string;
  readonly purpose: 'run' | 'rehearsal';
  readonly signal: AbortSignal;
}

/** The field by which each type is told what to read. */
const ASKED_BY = { postgres: 'query', http: 'path', s3: 'key' } as const;

export class ConnectionUse {
  readonly #deps: Pick<ModuleDeps, 'sql' | 'sealer' | 'egress' | 'clock'>;

  constructor(deps: Pick<ModuleDeps, 'sql' | 'sealer' | 'egress' | 'clock'>) {
    this.#deps = deps;
  }

  /** Throws CONNECTION_NOT_FOUND for who may not use it, and INVALID_REQUEST for a config that its type cannot do with. */
  async requireUsable(sql: Queries, config: SourceConfig, accounts: Accounts): Promise<void> {
    await usable(sql, config, accounts);
  }

  /**
   * Rows beyond `after`, at most as many as a dataset takes of a source. Iterate once; what is under way ends with the iteration. `reached`
   * hears the highest value of the cursor column so far.
   * Throws as `requireUsable` does, SourceFailure, EgressFailure, and the reason of the signal.
   */
  async *rows(
    config: SourceConfig,
    user: ConnectionUser,
    after: Scalar | undefined,
    reached: (value: Scalar) => void,
  ): AsyncGenerator<Row> {
    const { sql, sealer, egress, clock } = this.#deps;
    const connection = await usable(sql, config, user.accounts);
    const secrets = await readSecrets(sql, connection.id, user.accounts);
    const target = storedTarget(sealer, connection, secrets);
    await this.#record(connection, user);
    const { signal, end } = deadline(LIMITS.connectionReadMs, user.signal);
    let wrong: string | null = null;
    try {
      const reach = { egress, share: connection.workspace_id, signal };
      yield* bounded(beyond(read(reach, target, config, after, user.artifactId), target.type, config.cursor_column, after, reached));
    } catch (error) {
      wrong = signal.aborted && user.signal.aborted ? null : error instanceof Error ? error.message : 'It did not end.';
      throw error;
    } finally {
      end();
      await noteUse(sql, connection, wrong, clock.nowMs());
    }
  }

  /** Before the use, so that none is left out where it does not end. */
  async #record(connection: UsableRow, user: ConnectionUser): Promise<void> {
    const { id, name, workspace_id: workspaceId } = connection;
    const nowMs = this.#deps.clock.nowMs();
    const by = { principal: { kind: 'user', userId: user.userId }, address: '', requestId: user.runId, nowMs } as const;
    const detail = { by: user.purpose, artifact_id: user.artifactId, job_id: user.jobId };
    await this.#deps.sql.begin(async (tx) => {
      await audit(tx, by, { workspaceId, action: 'connection.use', target: { type: 'connection', id, name }, detail });
    });
  }
}

/** Throws CONNECTION_NOT_FOUND, INVALID_REQUEST. */
async function usable(sql: Queries, config: SourceConfig, accounts: Accounts): Promise<UsableRow> {
  const connection = await readUsable(sql, config.connection_id, accounts);
  if (connection === null) {
    throw new Failure('CONNECTION_NOT_FOUND', {
      param: 'config.connection_id',
      message: 'There is no such connection in a workspace that the maker of the job belongs to.',
    });
  }
  const { type } = connection;
  const wanted = ASKED_BY[type];
  if (config[wanted] === undefined) throw invalid(wanted, `is required with a connection of the type ${type}`);
  for (const other of Object.values(ASKED_BY)) {
    if (other !== wanted && config[other] !== undefined) throw invalid(other, `does not go with a connection of the type ${type}`);
  }
  for (const field of type === 'postgres'
    ? (['rows', 'format', 'cursor_param'] as const)
    : type === 's3'
      ? (['cursor_param'] as const)
      : []) {
    if (config[field] !== undefined) throw invalid(field, `does not go with a connection of the type ${type}`);
  }
  return connection;
}

function invalid(field: string, message: string): Failure {
  return new Failure('INVALID_REQUEST', { param: `config.${field}`, message: `config.${field}: ${message}.` });
}

async function* read(reach: Reach, target: Target, config: SourceConfig, after: Scalar | undefined, lane: string): AsyncGenerator<Row> {
  const { query = '', path = '', key = '', format, rows: pointer, cursor_column: cursorColumn, cursor_param: param } = config;
  if (target.type === 'postgres') {
    yield* postgresRows(reach, target, { query, cursorColumn, after });
    return;
  }
  const params = param === undefined || after === undefined ? {} : { [param]: String(after) };
  const fetched = target.type === 'http' ? await fetchHttp(reach, target, { path, params }) : await fetchS3(reach, target, key);
  for await (const row of rowsOfBytes(fetched.bytes, format ?? fetched.format, pointer, lane)) {
    reach.signal.throwIfAborted();
    yield row;
  }
}

/** Rows that have a value in the cursor column, beyond `after`. A database has looked itself, and answers in its own order. */
async function* beyond(
  rows: AsyncGenerator<Row>,
  type: Target['type'],
  column: string | undefined,
  after: Scalar | undefined,
  reached: (value: Scalar) => void,
): AsyncGenerator<Row> {
  let highest: Scalar | undefined;
  for await (const row of rows) {
    if (column !== undefined) {
      const value = cursorValue(row, column);
      const isOrdered = type === 'postgres';
      if (value === null || (!isOrdered && after !== undefined && !isBeyond(value, after, column))) continue;
      if (isOrdered || highest === undefined || isBeyond(value, highest, column)) highest = value;
      reached(highest);
    }
    yield row;
  }
}

async function* bounded(rows: AsyncGenerator<Row>): AsyncGenerator<Row> {
  let count = 0;
  for await (const row of rows) {
    count += 1;
    if (count > LIMITS.materializeRowsMax)
      throw new SourceFailure(`A run takes ${LIMITS.materializeRowsMax} rows of a connection; ask for fewer, or use cursor_column.`);
    yield row;
  }
}
