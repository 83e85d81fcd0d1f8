/** What a user would take instead: `ILIKE` over the same texts, and a small library that searches in memory. */
import MiniSearch from 'minisearch';
import type postgres from 'postgres';
import type { Page } from './corpus.ts';

export const ILIKE = 'ILIKE';
export const MINISEARCH = 'MiniSearch';

const HITS = 5;
const SEEDED_AT_ONCE = 500;

/** The texts of all pages, plain, for `ILIKE`. Those from `indexed` on are copies of the first ones. */
export async function seedPlain(sql: postgres.Sql, { indexed, total, page }: PlainPlan): Promise<void> {
  await sql`create table bench_page (artifact_id text primary key, name text not null, body text not null)`;
  for (let from = 0; from < indexed; from += SEEDED_AT_ONCE) {
    const texts = Array.from({ length: Math.min(SEEDED_AT_ONCE, indexed - from) }, (_, at) => page(from + at).text);
    await sql`
      insert into bench_page (artifact_id, name, body)
      select a.id, a.name, t.text from unnest(${texts}::text[]) with ordinality as t (text, at)
        cross join generate_series(${from}::int + t.at::int - 1, ${total - 1}::int, ${indexed}::int) n join artifact a on a.id = 'art_' || lpad(n::text, 24, '0')`;
  }
  await sql`vacuum analyze bench_page`;
}

/** Pages with all of the words, of this workspace and the public ones; those with a word in their name first. */
export async function byIlike(sql: postgres.Sql, q: string, workspaceId: string, withPublic: boolean): Promise<string[]> {
  const like = q.split(' ').map((word) => `%${word.replace(/[%_\\]/g, '\\$&')}%`);
  // `offset 0`: what they may not open is left out first, which the planner would do last.
  const rows = await sql<{ name: string }[]>`
    select p.name from (
      select p.name, p.body, a.updated_at_ms from artifact a join bench_page p on p.artifact_id = a.id
      where a.workspace_id = ${workspaceId} or (${withPublic} and a.visibility = 'public') offset 0
    ) p
    where p.name || ' ' || p.body ilike all(${like})
    order by p.name ilike any(${like}) desc, p.updated_at_ms desc limit ${HITS}`;
  return rows.map(({ name }) => name);
}

interface PlainPlan {
  readonly indexed: number;
  readonly total: number;
  readonly page: (number: number) => Page;
}

export class Library {
  readonly #index = new MiniSearch<{ id: number; name: string; text: string }>({
    fields: ['name', 'text'],
    storeFields: ['name'],
    searchOptions: { boost: { name: 3 }, prefix: true, fuzzy: 0.2 },
  });

  constructor(pages: readonly Page[]) {
    this.#index.addAll(pages.map(({ name, text }, id) => ({ id, name, text })));
  }

  find(q: string): string[] {
    return this.#index
      .search(q)
      .slice(0, HITS)
      .map(({ name }) => String(name));
  }
}
