/** Workspaces, their members and their pages, written with SQL and as files: the API allows a person some publishes an hour. */
import { createHash } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type postgres from 'postgres';
import type { Page } from './corpus.ts';

type Sql = postgres.Sql;

const BATCH = 500;

export async function seedWorkspaces(sql: Sql, count: number): Promise<void> {
  const nowMs = Date.now();
  await sql`
    insert into account (id, tier, created_at_ms, person_id)
    select 'usr_' || lpad(n::text, 24, '0'), 'team', ${nowMs}, 'per_' || lpad(n::text, 24, '0') from generate_series(0, ${count - 1}::int) n`;
  await sql`
    insert into workspace (id, slug, name, plan_tier, created_at_ms, updated_at_ms)
    select 'wsp_' || lpad(n::text, 24, '0'), 'workspace-' || n, 'Workspace ' || n, 'team', ${nowMs}, ${nowMs} from generate_series(0, ${count - 1}::int) n`;
  await sql`
    insert into workspace_member (workspace_id, user_id, role, joined_at_ms)
    select 'wsp_' || lpad(n::text, 24, '0'), 'usr_' || lpad(n::text, 24, '0'), 'owner', ${nowMs} from generate_series(0, ${count - 1}::int) n`;
}

export async function addMember(sql: Sql, userId: string, workspace: number): Promise<void> {
  await sql`
    insert into workspace_member (workspace_id, user_id, role, joined_at_ms)
    values (${`wsp_${String(workspace).padStart(24, '0')}`}, ${userId}, 'member', ${Date.now()})`;
}

/** One of ten is public, six are open to their workspace and three are private. Pages are dealt to the workspaces in turn. */
const VISIBILITY = `case when n % 10 = 0 then 'public' when n % 10 < 7 then 'workspace' else 'private' end`;

export interface PagesPlan {
  readonly first: number;
  readonly count: number;
  readonly workspaces: number;
  readonly page: (number: number) => Page;
}

/** Publishes pages `first … first + count - 1`, which queues them for the index. Answers the characters of their texts. */
export async function seedPages(sql: Sql, objectsFolder: string, { first, count, workspaces, page }: PagesPlan): Promise<number> {
  let chars = 0;
  for (let from = first; from < first + count; from += BATCH) {
    const numbers = Array.from({ length: Math.min(BATCH, first + count - from) }, (_, at) => from + at);
    const pages = numbers.map(page);
    chars += pages.reduce((sum, { text }) => sum + text.length, 0);
    const files = await storeFiles(objectsFolder, pages);
    await sql.begin(async (tx) => {
      await insertArtifacts(tx, numbers, pages, workspaces);
      await insertFiles(tx, numbers, files);
    });
  }
  return chars;
}

interface StoredFile {
  readonly sha256: string;
  readonly size: number;
  readonly path: string;
  readonly mime: string;
}

/** As the object store of a data folder keeps them. */
async function storeFiles(objectsFolder: string, pages: readonly Page[]): Promise<StoredFile[]> {
  return Promise.all(
    pages.map(async ({ file: { path, mime, content } }) => {
      const sha256 = createHash('sha256').update(content).digest('hex');
      const stored = join(objectsFolder, sha256.slice(0, 2), sha256.slice(2, 4), sha256);
      await mkdir(dirname(stored), { recursive: true });
      await writeFile(stored, content);
      return { sha256, size: Buffer.byteLength(content), path, mime };
    }),
  );
}

async function insertArtifacts(tx: postgres.TransactionSql, numbers: readonly number[], pages: readonly Page[], workspaces: number) {
  const nowMs = Date.now();
  await tx`
    insert into artifact (id, owner_id, workspace_id, name, slug, visibility, live_version_id, last_version_no, created_at_ms, updated_at_ms)
    select 'art_' || lpad(n::text, 24, '0'), 'usr_' || lpad((n % ${workspaces}::int)::text, 24, '0'),
      'wsp_' || lpad((n % ${workspaces}::int)::text, 24, '0'), name, slug, ${tx.unsafe(VISIBILITY)}, 'ver_' || lpad(n::text, 24, '0'), 1,
      ${nowMs}, ${nowMs}::bigint - n
    from unnest(${[...numbers]}::int[], ${pages.map(({ name }) => name)}::text[], ${pages.map(({ slug }) => slug)}::text[]) as t (n, name, slug)`;
  await tx`
    insert into artifact_version (id, artifact_id, version_no, entrypoint, size_bytes, created_at_ms)
    select 'ver_' || lpad(n::text, 24, '0'), 'art_' || lpad(n::text, 24, '0'), 1, path, 1, ${nowMs}
    from unnest(${[...numbers]}::int[], ${pages.map(({ file }) => file.path)}::text[]) as t (n, path)`;
}

async function insertFiles(tx: postgres.TransactionSql, numbers: readonly number[], files: readonly StoredFile[]): Promise<void> {
  const columns = {
    sha256: files.map(({ sha256 }) => sha256),
    size: files.map(({ size }) => size),
    path: files.map(({ path }) => path),
    mime: files.map(({ mime }) => mime),
  };
  await tx`
    insert into stored_object (sha256, size_bytes, stored_at_ms)
    select decode(sha256, 'hex'), size, ${Date.now()} from unnest(${columns.sha256}::text[], ${columns.size}::int[]) as t (sha256, size)
    on conflict do nothing`;
  await tx`
    insert into version_file (version_id, path, sha256, mime, size_bytes)
    select 'ver_' || lpad(n::text, 24, '0'), path, decode(sha256, 'hex'), mime, size
    from unnest(${[...numbers]}::int[], ${columns.path}::text[], ${columns.sha256}::text[], ${columns.mime}::text[], ${columns.size}::int[])
      as t (n, path, sha256, mime, size)`;
}

/**
 * Fills up to `total` pages with copies of the index of the first `indexed`: other artifacts of other people with the same texts. Their index is
 * then built at once, because that is not what is measured here.
 */
export async function copyPages(sql: Sql, { indexed, total, workspaces }: CopyPlan): Promise<void> {
  const nowMs = Date.now();
  await sql`drop index search_document_words`;
  for (let from = indexed; from < total; from += indexed) {
    const last = Math.min(from + indexed, total) - 1;
    await sql`
      insert into artifact (id, owner_id, workspace_id, name, slug, visibility, live_version_id, last_version_no, created_at_ms, updated_at_ms)
      select 'art_' || lpad(n::text, 24, '0'), 'usr_' || lpad((n % ${workspaces}::int)::text, 24, '0'),
        'wsp_' || lpad((n % ${workspaces}::int)::text, 24, '0'), a.name, 'page-' || n, ${sql.unsafe(VISIBILITY)},
        'ver_' || lpad(n::text, 24, '0'), 1, ${nowMs}, ${nowMs}::bigint - n
      from generate_series(${from}::int, ${last}::int) n join artifact a on a.id = 'art_' || lpad((n % ${indexed}::int)::text, 24, '0')`;
    await sql`
      insert into artifact_version (id, artifact_id, version_no, entrypoint, size_bytes, created_at_ms)
      select 'ver_' || lpad(n::text, 24, '0'), 'art_' || lpad(n::text, 24, '0'), 1, 'index.html', 1, ${nowMs}
      from generate_series(${from}::int, ${last}::int) n`;
    await sql`
      insert into search_document (artifact_id, reach, version_id, names, telling, words, passages, indexed_at_ms)
      select a.id, search_reach(a.id, a.visibility, a.workspace_id, a.owner_id), a.live_version_id, d.names, d.telling, d.words, d.passages, ${nowMs}
      from generate_series(${from}::int, ${last}::int) n join artifact a on a.id = 'art_' || lpad(n::text, 24, '0')
        join search_document d on d.artifact_id = 'art_' || lpad((n % ${indexed}::int)::text, 24, '0')`;
    await sql`delete from search_turn`;
  }
  await sql`set maintenance_work_mem = '1GB'`;
  await sql`create index search_document_words on search_document using gin ((telling || words::tsvector), names, reach)`;
  await sql`vacuum analyze`;
}

export interface CopyPlan {
  readonly indexed: number;
  readonly total: number;
  readonly workspaces: number;
}
