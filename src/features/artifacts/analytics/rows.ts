/** The SQL of `page_view` and `page_view_salt`. */
import type { ArtifactId } from '../../../../protocol/core/ids.ts';
import type { Queries } from '../../deps.ts';

/** What one process has counted of an artifact on one day. */
export interface CountedDay {
  readonly artifactId: ArtifactId;
  /** Days since 1970-01-01, UTC. */
  readonly day: number;
  readonly views: number;
}

export interface SketchedDay extends CountedDay {
  readonly visitors: number;
  readonly sketch: Buffer;
}

interface SketchRow {
  readonly artifact_id: ArtifactId;
  readonly day: number;
  readonly sketch: Buffer;
}

/**
 * Locks the rows of these days, made where there are none, until the transaction ends, so that processes add one after the other. In one
 * order, so that they do not wait for each other in a circle. What is gone has no row.
 */
export async function lockDays(tx: Queries, days: readonly CountedDay[]): Promise<readonly SketchRow[]> {
  const ids = days.map(({ artifactId }) => artifactId);
  const numbers = days.map(({ day }) => day);
  await tx`
    insert into page_view (artifact_id, day, views, visitors, sketch)
    select a.id, n.day, 0, 0, ''::bytea
    from unnest(${ids}::text[], ${numbers}::integer[]) as n (artifact_id, day) join artifact a on a.id = n.artifact_id
    order by a.id, n.day
    on conflict (artifact_id, day) do nothing`;
  return tx<SketchRow[]>`
    select v.artifact_id, v.day, v.sketch
    from page_view v
    where (v.artifact_id, v.day) in (select n.artifact_id, n.day from unnest(${ids}::text[], ${numbers}::integer[]) as n (artifact_id, day))
    order by v.artifact_id, v.day for update`;
}

/** Adds views. Visitors never become fewer: an estimate may be below what was counted exactly before it. */
export async function addViews(tx: Queries, days: readonly SketchedDay[]): Promise<void> {
  await tx`
    update page_view v
    set views = v.views + n.views, visitors = greatest(v.visitors, n.visitors), sketch = decode(n.sketch, 'hex')
    from unnest(
      ${days.map(({ artifactId }) => artifactId)}::text[], ${days.map(({ day }) => day)}::integer[],
      ${days.map(({ views }) => views)}::bigint[], ${days.map(({ visitors }) => visitors)}::integer[],
      ${days.map(({ sketch }) => sketch.toString('hex'))}::text[]
    ) as n (artifact_id, day, views, visitors, sketch)
    where v.artifact_id = n.artifact_id and v.day = n.day`;
}

export interface ViewsRow {
  readonly day: number;
  readonly views: number;
  readonly visitors: number;
}

export function listViews(sql: Queries, artifactId: ArtifactId, fromDay: number): Promise<ViewsRow[]> {
  return sql<ViewsRow[]>`select day, views, visitors from page_view where artifact_id = ${artifactId} and day >= ${fromDay} order by day`;
}

/** The salt of a day, for all processes: the first that needs it stores its `fresh` one. */
export async function saltOf(sql: Queries, day: number, fresh: Buffer): Promise<Buffer> {
  const made = await sql<{ salt: Buffer }[]>`
    insert into page_view_salt (day, salt) values (${day}, ${fresh}) on conflict (day) do nothing returning salt`;
  const [row] = made.length > 0 ? made : await sql<{ salt: Buffer }[]>`select salt from page_view_salt where day = ${day}`;
  if (row === undefined) throw new Error(`the salt of day ${day} is gone`);
  return row.salt;
}

export async function deleteSalts(sql: Queries, beforeDay: number): Promise<void> {
  await sql`delete from page_view_salt where day < ${beforeDay}`;
}

/** Removes days, and empties the sketches of those that get no more views. Answers how many rows it removed. */
export async function deleteOldDays(sql: Queries, before: { readonly keptFrom: number; readonly sketchedFrom: number }): Promise<number> {
  await sql`update page_view set sketch = ''::bytea where day < ${before.sketchedFrom} and length(sketch) > 0`;
  return (await sql`delete from page_view where day < ${before.keptFrom}`).count;
}
