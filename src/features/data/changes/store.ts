/** "What changed since": reads the things themselves, which store the seq of their last change, and the tombstones of deleted things. */
import { type Change, changeTypeOf, deletionsOf } from '../../../../actors/kinds.ts';
import type { ArtifactId } from '../../../../protocol/core/ids.ts';
import type { Queries } from '../../deps.ts';
import type { ChangedThing, ChangesWanted, StoredThing } from './feed.ts';
import { FEEDS } from './kinds.ts';

export interface ChangesRead {
  /** In order of seq. */
  readonly things: readonly ChangedThing[];
  readonly hasMore: boolean;
  /** The seq of the last committed change in the same snapshot. */
  readonly headSeq: number;
  /** Tombstones up to this seq may have been deleted. */
  readonly trimmedSeq: number;
}

type Row = StoredThing<Change['kind'], unknown> & { readonly head_seq: number; readonly trimmed_seq: number };
/** The result for an artifact without matching changes. */
type NoRow = Pick<Row, 'head_seq' | 'trimmed_seq'> & { readonly seq: null };

/** Reads one snapshot. Null if the artifact does not exist. */
export async function readChanges(sql: Queries, id: ArtifactId, wanted: ChangesWanted): Promise<ChangesRead | null> {
  const sources = [columns(sql), ...wanted.types.flatMap((type) => FEEDS[type].stored(sql, id, wanted)), tombstones(sql, id, wanted)];
  const all = sources.reduce((sum, source) => sql`${sum} union all (${source})`);
  const found = await sql<(Row | NoRow)[]>`
    select a.seq as head_seq, a.tombstones_trimmed_seq as trimmed_seq, c.*
    from artifact a left join lateral (select * from (${all}) as every order by seq limit ${wanted.limit + 1}) as c on true
    where a.id = ${id} order by c.seq`;
  const [first] = found;
  if (first === undefined) return null;
  const things = found.flatMap((row) => (row.seq === null ? [] : [thingOfRow(row)]));
  return {
    things: things.slice(0, wanted.limit),
    hasMore: things.length > wanted.limit,
    headSeq: first.head_seq,
    trimmedSeq: first.trimmed_seq,
  };
}

/** The seq of the last committed change of each of these artifacts. */
export async function readHeadSeqs(sql: Queries, ids: readonly ArtifactId[]): Promise<ReadonlyMap<ArtifactId, number>> {
  const found = await sql<{ id: ArtifactId; seq: number }[]>`select id, seq from artifact where id = any(${[...ids]}::text[])`;
  return new Map(found.map(({ id, seq }) => [id, seq]));
}

function thingOfRow(row: Row): ChangedThing {
  return FEEDS[changeTypeOf(row)].thingOfStored(row);
}

/** Selects no rows, but fixes the column names and types of `StoredThing` for the sources that follow in the union. */
function columns(sql: Queries) {
  return sql`
    select null::bigint as seq, null::text as kind, null::text as name, null::text as row_id, null::text as data, null::bigint as at_ms,
      null::bigint as created_at_ms, null::json as more
    where false`;
}

function tombstones(sql: Queries, id: ArtifactId, { sinceSeq, types, reserved, limit }: ChangesWanted) {
  const kinds = types.flatMap(deletionsOf);
  const guarded = types.filter((type) => FEEDS[type].hasReserved).flatMap(deletionsOf);
  return sql`
    select seq, kind, name, row_id, null, at_ms, null::bigint, null::json
    from tombstone
    where artifact_id = ${id} and seq > ${sinceSeq} and kind = any(${kinds}::text[])
      and (${reserved} or kind <> all(${guarded}::text[]) or not starts_with(name, '_'))
    order by seq limit ${limit + 1}`;
}
