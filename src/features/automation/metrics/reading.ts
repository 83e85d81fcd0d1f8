/**
 * Reads what a metric is now, with the rights of one account. It reads what is committed, as every answer of the service does, from the database: so
 * any node can look, and an artifact that nobody uses stays asleep.
 */
import { type ArtifactHead, decide, roleOf, type UserPrincipal } from '../../../../actors/access/access.ts';
import type { MetricSource } from '../../../../protocol/automation/metrics.ts';
import type { Need } from '../../../../protocol/core/endpoint.ts';
import { Failure } from '../../../../protocol/core/errors.ts';
import type { ArtifactId, TokenId, UserId } from '../../../../protocol/core/ids.ts';
import { mayUseReserved, textAt } from '../../data/json-keys/rules.ts';
import { EVERYTHING, type Filter, parseFilter } from '../../data/tables/queries/filter.ts';
import type { TableScope } from '../../data/tables/queries/filter-sql.ts';
import type { RowReads } from '../../data/tables/queries/row-reads.ts';
import { parseSort } from '../../data/tables/queries/sort.ts';
import type { TableReads } from '../../data/tables/reads.ts';
import type { Queries } from '../../deps.ts';
import { isSuspendedPerson, readStandings } from '../../people/persons/rows.ts';

export type WatchSource =
  | { readonly kind: 'count'; readonly table: string }
  | { readonly kind: 'sum' | 'last'; readonly table: string; readonly column: string };

/** `value` is null where there is none: a gap, which says nothing about the metric. */
export type Reading =
  | { readonly kind: 'value'; readonly value: number | null }
  /** For no fault of the service, such as a missing right or a text in place of a number. */
  | { readonly kind: 'failed'; readonly error: string }
  /** The artifact is in the trash: it is not looked at until it is restored. */
  | { readonly kind: 'asleep' };

export interface MetricReaderDeps {
  readonly sql: Queries;
  readonly reads: TableReads;
  readonly heads: { get(id: ArtifactId): ArtifactHead | Promise<ArtifactHead | null> };
  readonly clock: { nowMs(): number };
}

interface Reader {
  readonly artifactId: ArtifactId;
  readonly userId: UserId;
}

/** No rows are stored under this name: a table that nobody has written yet is empty. */
const NO_TABLE = '';

/** What passes by itself, and is not the fault of who has defined the metric. */
const PASSING = new Set(['UNAVAILABLE', 'OWNER_MOVED', 'INTERNAL_ERROR']);

export class MetricReader {
  readonly #deps: MetricReaderDeps;

  constructor(deps: MetricReaderDeps) {
    this.#deps = deps;
  }

  /** Rejects where the service itself could not read. */
  metric(reader: Reader, source: MetricSource): Promise<Reading> {
    return this.#read(reader, 'edit', (head, principal) => this.#valueOf(head, principal, source));
  }

  /** The same for a watch, whose person needs to read data only. */
  watch(reader: Reader, source: WatchSource): Promise<Reading> {
    return this.#read(reader, 'data:read', ({ id }, principal) => this.#watchedOf(id, principal, source));
  }

  async #read(
    { artifactId, userId }: Reader,
    need: Need,
    read: (head: ArtifactHead, principal: UserPrincipal) => Promise<unknown>,
  ): Promise<Reading> {
    const { heads, sql, clock } = this.#deps;
    const head = await heads.get(artifactId);
    if (head === null || head.isSuspended === true || (await isSuspendedPerson(sql, userId))) return { kind: 'asleep' };
    const standing = (await readStandings(sql, [userId], clock.nowMs())).get(userId);
    if (standing === undefined) return { kind: 'failed', error: 'The account that made this is gone.' };
    // No credential of the account is used: this is what the account itself may do.
    const principal: UserPrincipal = {
      kind: 'user',
      userId,
      ...standing,
      tokenId: '' as TokenId,
      tokenKind: 'personal',
      expiresAtMs: null,
    };
    if (decide(head, principal, need, null) !== 'allowed') {
      const needed = need === 'edit' ? 'edit the artifact' : "read the artifact's data";
      return { kind: 'failed', error: `Who made this may not ${needed} any more.` };
    }
    try {
      return readingOf(await read(head, principal));
    } catch (error) {
      if (!(error instanceof Failure) || PASSING.has(error.code)) throw error;
      return { kind: 'failed', error: error.message };
    }
  }

  async #valueOf(head: ArtifactHead, principal: UserPrincipal, source: MetricSource): Promise<unknown> {
    switch (source.kind) {
      case 'json_path':
        if (source.key.startsWith('_') && !mayUseReserved(roleOf(head, principal))) throw new Failure('FORBIDDEN');
        return this.#jsonValue(head.id, source.key, source.path);
      case 'table_count': {
        const filter = filterOf(source.where);
        return this.#inTable(head.id, principal, source.table, (rows, scope) => rows.count(scope, filter));
      }
      case 'table_aggregate': {
        const { fn, field } = source;
        const filter = filterOf(source.where);
        return this.#inTable(head.id, principal, source.table, async (rows, scope) => {
          return fn === 'sum'
            ? sumOf(rows, scope, filter, field)
            : (await rows.aggregate(scope, filter, { groupBy: [], metrics: [{ fn, field, as: 'value' }] }))[0]?.value;
        });
      }
      default:
        return source satisfies never;
    }
  }

  #watchedOf(artifactId: ArtifactId, principal: UserPrincipal, source: WatchSource): Promise<unknown> {
    switch (source.kind) {
      case 'count':
        return this.#inTable(artifactId, principal, source.table, (rows, scope) => rows.count(scope, EVERYTHING));
      case 'sum':
        return this.#inTable(artifactId, principal, source.table, (rows, scope) => sumOf(rows, scope, EVERYTHING, source.column));
      case 'last':
        return this.#inTable(artifactId, principal, source.table, async (rows, scope) => {
          const found = await rows.page(scope, { filter: EVERYTHING, sort: parseSort('-createdAt'), limit: 1, skip: 0, cursor: undefined });
          const [row] = found.rows;
          return row === undefined ? null : (at(JSON.parse(row.data.toString()), source.column.split('.')) ?? null);
        });
      default:
        return Promise.resolve(source satisfies never);
    }
  }

  async #jsonValue(artifactId: ArtifactId, key: string, path: string): Promise<unknown> {
    const { sql, clock } = this.#deps;
    const [row] = await sql<{ value: string }[]>`
      select value from json_key
      where artifact_id = ${artifactId} and key = ${key} and (expires_at_ms is null or expires_at_ms > ${clock.nowMs()})`;
    if (row === undefined) return null;
    try {
      return JSON.parse(textAt(row.value, path));
    } catch (error) {
      if (error instanceof Failure && error.code === 'KEY_NOT_FOUND') return null;
      throw error;
    }
  }

  async #inTable<T>(
    artifactId: ArtifactId,
    principal: UserPrincipal,
    name: string,
    read: (rows: RowReads, scope: TableScope) => Promise<T>,
  ): Promise<T> {
    const { sql, reads } = this.#deps;
    const [table] = await sql<{ stored_as: string; schema: string | null; row_count: number }[]>`
      select coalesce(stored_as, name) as stored_as, schema::text as schema, row_count
      from data_table where artifact_id = ${artifactId} and name = ${name}`;
    const scope: TableScope = {
      artifactId,
      table: table?.stored_as ?? NO_TABLE,
      schema: table === undefined || table.schema === null ? null : JSON.parse(table.schema),
      rowCount: table?.row_count ?? 0,
    };
    return reads.run({ artifact: artifactId, caller: principal.person.id }, (rows) => read(rows, scope));
  }
}

/** A sum of nothing is no value: rows that have not come yet must not look like a fall to 0. */
async function sumOf(rows: RowReads, scope: TableScope, filter: Filter, field: string): Promise<unknown> {
  const metrics = [
    { fn: 'sum' as const, field, as: 'value' },
    { fn: 'avg' as const, field, as: 'mean' },
  ];
  const [group] = await rows.aggregate(scope, filter, { groupBy: [], metrics });
  return group === undefined || group.mean === null ? null : group.value;
}

/** Throws INVALID_FILTER. */
export function filterOf(where: unknown): Filter {
  return where === undefined || where === null ? EVERYTHING : parseFilter(where);
}

function at(value: unknown, steps: readonly string[]): unknown {
  let found = value;
  for (const step of steps) {
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, step)) return undefined;
    found = (found as Record<string, unknown>)[step];
  }
  return found;
}

function readingOf(found: unknown): Reading {
  if (found === null || found === undefined) return { kind: 'value', value: null };
  // Aggregates of exact numbers come as text of digits.
  const value = typeof found === 'number' ? found : typeof found === 'bigint' ? Number(found) : Number.NaN;
  if (Number.isFinite(value)) return { kind: 'value', value };
  const what = Array.isArray(found) ? 'a list' : typeof found === 'object' ? 'an object' : `a ${typeof found}`;
  return { kind: 'failed', error: `The metric is ${what}, not a number.` };
}
