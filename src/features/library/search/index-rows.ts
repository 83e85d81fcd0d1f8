/** The SQL of `search_document`, `search_word` and `search_turn`, as the indexer writes them. */
import type { ArtifactId, VersionId } from '../../../../protocol/core/ids.ts';
import type { Queries } from '../../deps.ts';
import type { Lexemes } from './document-words.ts';

export interface Turn {
  readonly artifactId: ArtifactId;
  readonly number: number;
  /** Including the one that begins now. */
  readonly attempts: number;
}

/** Leases turns that are due, of these artifacts or of any. Each is an attempt. */
export function claimTurns(sql: Queries, of: readonly ArtifactId[] | null, nowMs: number, leaseS: number, rowsMax: number) {
  return sql<Turn[]>`
    with due as materialized (
      select artifact_id from search_turn
      where due_at_ms <= ${nowMs} and (lease_ends_at is null or lease_ends_at < now())
        ${of === null ? sql`` : sql`and artifact_id = any(${[...of]})`}
      order by due_at_ms limit ${rowsMax} for update skip locked
    )
    update search_turn t set attempts = attempts + 1, lease_ends_at = now() + make_interval(secs => ${leaseS})
    from due where t.artifact_id = due.artifact_id
    returning t.artifact_id as "artifactId", t.number, t.attempts`;
}

/** Ends the turns that nothing has changed since and that no other process has claimed. The artifacts of those that ended. */
export async function endTurns(sql: Queries, turns: readonly Turn[]): Promise<ArtifactId[]> {
  const ended = await sql<{ artifact_id: ArtifactId }[]>`
    delete from search_turn t using ${claimsOf(sql, turns)}
    where t.artifact_id = c.artifact_id and t.number = c.number and t.attempts = c.attempts returning t.artifact_id`;
  return ended.map(({ artifact_id }) => artifact_id);
}

function claimsOf(sql: Queries, turns: readonly Turn[]) {
  const column = <K extends keyof Turn>(name: K) => turns.map((turn) => turn[name]);
  return sql`
    unnest(${column('artifactId')}::text[], ${column('number')}::bigint[], ${column('attempts')}::int[]) as c (artifact_id, number, attempts)`;
}

/** Waits until nobody else holds the artifact or its turn. In the order in which a deletion of the artifact locks them. */
export async function holdTurn(tx: Queries, id: ArtifactId): Promise<void> {
  await tx`select from artifact a join search_turn t on t.artifact_id = a.id where a.id = ${id} for key share of a for update of t`;
}

/** Makes a turn due again that was not written because the artifact has changed: then there have been no attempts. */
export async function releaseTurn(sql: Queries, { artifactId, number, attempts }: Turn): Promise<void> {
  await sql`
    update search_turn set lease_ends_at = null
    where artifact_id = ${artifactId} and (attempts = 0 or (number = ${number} and attempts = ${attempts}))`;
}

export async function postponeTurn(sql: Queries, { artifactId, number, attempts }: Turn, dueAtMs: number): Promise<void> {
  await sql`
    update search_turn set lease_ends_at = null, due_at_ms = case when number = ${number} then ${dueAtMs}::bigint else due_at_ms end
    where artifact_id = ${artifactId} and ((number = ${number} and attempts = ${attempts}) or attempts = 0)`;
}

/** Queues every artifact anew, in the order of their ids behind `after`. The last id that was queued; null at the end. */
export async function queueAll(sql: Queries, after: ArtifactId | null, rowsMax: number): Promise<ArtifactId | null> {
  const rows = await sql<{ artifact_id: ArtifactId }[]>`
    insert into search_turn (artifact_id)
    select id from artifact where id > ${after ?? ''} order by id limit ${rowsMax}
    on conflict (artifact_id) do update set number = search_turn.number + 1, attempts = 0, due_at_ms = 0
    returning artifact_id`;
  return rows.reduce<ArtifactId | null>((last, { artifact_id }) => (last === null || artifact_id > last ? artifact_id : last), null);
}

export async function countTurns(sql: Queries): Promise<number> {
  const [row] = await sql<{ total: number }[]>`select count(*)::int as total from search_turn`;
  return row?.total ?? 0;
}

export interface Source {
  readonly id: ArtifactId;
  readonly name: string;
  readonly slug: string;
  readonly social_title: string | null;
  readonly social_description: string | null;
  readonly version_id: VersionId | null;
  readonly entrypoint: string | null;
}

export function readSources(sql: Queries, ids: readonly ArtifactId[]): Promise<Source[]> {
  return sql<Source[]>`
    select a.id, a.name, a.slug, a.social_title, a.social_description, a.live_version_id as version_id, v.entrypoint
    from artifact a left join lateral (select entrypoint from artifact_version where id = a.live_version_id offset 0) v on true
    where a.id = any(${[...ids]})`;
}

export interface PageFile {
  readonly versionId: VersionId;
  readonly path: string;
  readonly sha256: string;
  readonly mime: string;
  readonly sizeBytes: number;
}

/** The files of versions that have text, at most `rowsMax` of each, the entry file first. */
export function listPageFiles(sql: Queries, versionIds: readonly VersionId[], rowsMax: number): Promise<PageFile[]> {
  return sql<PageFile[]>`
    select v.id as "versionId", f.path, encode(f.sha256, 'hex') as sha256, f.mime, f.size_bytes as "sizeBytes"
    from artifact_version v cross join lateral (
      select path, sha256, mime, size_bytes from version_file
      where version_id = v.id and size_bytes > 0 and path <> all(array['404.html', '200.html'])
        and (mime ~ '^(text/html|text/markdown|text/plain|application/xhtml\\+xml)' or path ~ '\\.(html?|md|markdown|txt)$')
      order by path <> v.entrypoint, path limit ${rowsMax}) f
    where v.id = any(${[...versionIds]})`;
}

/** In none of the texts of a document. */
const ITEM_END = '\u001e';

/**
 * For `string_to_array`: Postgres reads the text of an array letter by letter, which takes a twentieth of all indexing. Each item has an end, so that
 * one empty item is a list; the empty one behind the last belongs to no document.
 */
function listed(items: readonly string[]): string {
  return items.map((item) => item + ITEM_END).join('');
}

export interface NewDocument extends Lexemes {
  /** The claim by which it is written. */
  readonly turn: Turn;
  readonly versionId: VersionId | null;
  readonly passages: Buffer;
}

/**
 * Of artifacts that have changed since, and whose turn another process has claimed, nothing is written: what was read may be older than what is
 * indexed. Who holds an artifact or its turn is not waited for, because it may wait for another one of these. Answers the turns of what was written.
 */
export async function writeDocuments(sql: Queries, documents: readonly NewDocument[], nowMs: number): Promise<Turn[]> {
  const column = <K extends keyof NewDocument>(name: K) => documents.map((document) => document[name]);
  const turns = column('turn');
  const written = await sql<{ artifact_id: ArtifactId }[]>`
    with given as materialized (
      select * from unnest(
        ${turns.map(({ artifactId }) => artifactId)}::text[], ${turns.map(({ number }) => number)}::bigint[], ${turns.map(({ attempts }) => attempts)}::int[],
        ${column('versionId') as string[]}::text[], string_to_array(${listed(column('names'))}, ${ITEM_END}),
        string_to_array(${listed(column('telling'))}, ${ITEM_END}), string_to_array(${listed(column('words'))}, ${ITEM_END}),
        string_to_array(${listed(documents.map(({ passages }) => passages.toString('base64')))}, ${ITEM_END})
      ) as g (artifact_id, number, attempts, version_id, names, telling, words, passages)
    ), held as materialized (
      select a.id, search_reach(a.id, a.visibility, a.workspace_id, a.owner_id) as reach
      from given g join artifact a on a.id = g.artifact_id join search_turn t on t.artifact_id = a.id and t.number = g.number and t.attempts = g.attempts
      for key share of a skip locked for update of t skip locked
    )
    insert into search_document (artifact_id, reach, version_id, names, telling, words, passages, indexed_at_ms)
    select h.id, h.reach, g.version_id, g.names::tsvector, g.telling::tsvector, g.words, decode(g.passages, 'base64'), ${nowMs}
    from held h join given g on g.artifact_id = h.id
    on conflict (artifact_id) do update set
      reach = excluded.reach, version_id = excluded.version_id, names = excluded.names, telling = excluded.telling, words = excluded.words,
      passages = excluded.passages, indexed_at_ms = excluded.indexed_at_ms
    returning artifact_id`;
  const ids = new Set(written.map(({ artifact_id }) => artifact_id));
  return turns.filter(({ artifactId }) => ids.has(artifactId));
}

interface LearntWord {
  readonly word: string;
  readonly english: string | null;
  readonly spanish: string | null;
}

/**
 * The stems of words. Pages are found by `spelt`, also where they are asked for by another form or misspelt, from now on. With their stems, by which a
 * page is found too, so that they are its own. In one order, so that two that write at once wait for each other and not both.
 */
export function learnWords(sql: Queries, words: readonly string[], spelt: readonly string[]): Promise<LearntWord[]> {
  return sql<LearntWord[]>`
    with given as materialized (
      select word, (ts_lexize('english_stem', word))[1] as english, (ts_lexize('spanish_stem', word))[1] as spanish
      from unnest(${words as string[]}::text[]) as t (word)
    ), written as (
      insert into search_word (word, english, spanish)
      select w, nullif((ts_lexize('english_stem', w))[1], w), nullif((ts_lexize('spanish_stem', w))[1], w) from (
        select distinct w collate "C" as w from given cross join lateral (values (word), (english), (spanish)) as v (w)
        where word = any(${spelt as string[]}::text[]) and length(w) >= 3
      ) d order by w
      on conflict do nothing
    )
    select word, english, spanish from given`;
}
