/** The SQL of `search_document`, `search_word` and `search_turn`, as the indexer writes them. */
import type { JSONValue } from 'postgres';
import type { ArtifactId, VersionId } from '../../../../protocol/core/ids.ts';
import type { Queries } from '../../deps.ts';
import type { DocumentWords } from './document-words.ts';
import type { Piece } from './passages-of.ts';

export interface Turn {
  readonly artifactId: ArtifactId;
  readonly number: number;
  /** Including the one that begins now. */
  readonly attempts: number;
}

/** Leases turns that are due, of these artifacts or of any. Each is an attempt. */
export function claimTurns(sql: Queries, of: readonly ArtifactId[] | null, nowMs: number, leaseS: number, rowsMax: number) {
  return sql<Turn[]>`
    update search_turn set attempts = attempts + 1, lease_ends_at = now() + make_interval(secs => ${leaseS})
    where artifact_id in (
      select artifact_id from search_turn
      where due_at_ms <= ${nowMs} and (lease_ends_at is null or lease_ends_at < now())
        ${of === null ? sql`` : sql`and artifact_id = any(${[...of]})`}
      order by due_at_ms limit ${rowsMax} for update skip locked)
    returning artifact_id as "artifactId", number, attempts`;
}

/**
 * Ends a turn, or makes it due again where the artifact has changed meanwhile: then there have been no attempts. A turn that another process
 * has claimed since stays with it. True where it ended.
 */
export async function endTurn(sql: Queries, { artifactId, number, attempts }: Turn): Promise<boolean> {
  const ended = await sql`
    delete from search_turn where artifact_id = ${artifactId} and number = ${number} and attempts = ${attempts} returning 1`;
  if (ended.length === 0) await sql`update search_turn set lease_ends_at = null where artifact_id = ${artifactId} and attempts = 0`;
  return ended.length > 0;
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
  readonly name: string;
  readonly slug: string;
  readonly social_title: string | null;
  readonly social_description: string | null;
  readonly version_id: VersionId | null;
  readonly entrypoint: string | null;
}

export async function readSource(sql: Queries, id: ArtifactId): Promise<Source | null> {
  const [row] = await sql<Source[]>`
    select a.name, a.slug, a.social_title, a.social_description, a.live_version_id as version_id, v.entrypoint
    from artifact a left join artifact_version v on v.id = a.live_version_id where a.id = ${id}`;
  return row ?? null;
}

export interface PageFile {
  readonly path: string;
  readonly sha256: string;
  readonly mime: string;
  readonly sizeBytes: number;
}

/** The files of a version that have text, the entry file first. */
export function listPageFiles(sql: Queries, versionId: VersionId, entrypoint: string, rowsMax: number): Promise<PageFile[]> {
  return sql<PageFile[]>`
    select path, encode(sha256, 'hex') as sha256, mime, size_bytes as "sizeBytes" from version_file
    where version_id = ${versionId} and size_bytes > 0 and path <> all(array['404.html', '200.html'])
      and (mime ~ '^(text/html|text/markdown|text/plain|application/xhtml\\+xml)' or path ~ '\\.(html?|md|markdown|txt)$')
    order by path <> ${entrypoint}, path limit ${rowsMax}`;
}

interface NewDocument {
  /** The claim by which it is written. */
  readonly turn: Turn;
  readonly versionId: VersionId | null;
  readonly words: DocumentWords;
  readonly pieces: readonly Piece[];
  readonly nowMs: number;
}

/**
 * Words come in with their stems: of what it is called in both languages, of the rest in its own, except words that are everywhere. Nothing is
 * written where the artifact has changed or another process has claimed the turn since: what was read may be older than what is indexed.
 */
export async function writeDocument(sql: Queries, { turn, versionId, words, pieces, nowMs }: NewDocument): Promise<void> {
  const { language } = words;
  await sql`
    with given as materialized (
      select word, weight,
        case when weight in ('A', 'B') or ${language} = 'english' then ts_lexize('english_stem', word) end as english,
        case when weight in ('A', 'B') or ${language} = 'spanish' then ts_lexize('spanish_stem', word) end as spanish
      from unnest(${words.words as string[]}::text[], ${words.weights as string[]}::text[]) as t (word, weight)
    ), lexeme as (
      select word, weight from given
      where weight in ('A', 'B') or case ${language} when 'english' then english else spanish end <> '{}'
      union select s, weight from given cross join unnest(english) s
      union select s, weight from given cross join unnest(spanish) s
    )
    insert into search_document (artifact_id, reach, version_id, names, words, passages, indexed_at_ms)
    select a.id, search_reach(a.visibility, a.workspace_id, a.owner_id), ${versionId},
      coalesce((select string_agg(quote_literal(word) || ':1A', ' ') from lexeme where weight = 'A'), '')::tsvector,
      coalesce((select string_agg(quote_literal(word) || case weight when 'A' then ':1A' when 'B' then ':2B' when 'C' then ':3C' else '' end, ' ')
        from lexeme), '')::tsvector,
      ${sql.json(pieces as unknown as JSONValue)}, ${nowMs}
    from artifact a join search_turn t on t.artifact_id = a.id
    where a.id = ${turn.artifactId} and t.number = ${turn.number} and t.attempts = ${turn.attempts}
    -- In the order in which a deletion of the artifact locks them.
    for key share of a for update of t
    on conflict (artifact_id) do update set
      reach = excluded.reach, version_id = excluded.version_id, names = excluded.names, words = excluded.words, passages = excluded.passages,
      indexed_at_ms = excluded.indexed_at_ms`;
}

/**
 * Words and their stems: a page is found by both, so both are its own. In one order, so that two that write at once wait for each other and
 * not both.
 */
export async function writeSpelt(sql: Queries, words: readonly string[]): Promise<void> {
  await sql`
    with given as materialized (select word from unnest(${words as string[]}::text[]) as t (word))
    insert into search_word (word)
    select word from (
      select word from given union select unnest(ts_lexize('english_stem', word)) from given
      union select unnest(ts_lexize('spanish_stem', word)) from given
    ) t (word) where length(word) >= 3 order by word collate "C"
    on conflict do nothing`;
}
