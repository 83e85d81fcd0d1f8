/** Searches and waits for the index, for the tests of search. */
import { expect, vi } from 'vitest';
import type { SearchGroup, SearchHit } from '../../../../protocol/library/search.ts';
import type { Term } from '../../../../src/features/library/search/terms.ts';
import type { TestEasel, TestUser } from '../../../support/easel.ts';
import { json, published } from '../../../support/requests.ts';

export type Answer = Readonly<Record<SearchGroup, readonly SearchHit[]>> & { readonly query: string };

export async function found(easel: TestEasel, who: Pick<TestUser, 'token'>, q: string, more = ''): Promise<Answer> {
  const reply = await easel.fetch(`/v1/search?q=${encodeURIComponent(q)}${more}`, { token: who.token });
  const body = await json(reply);
  if (reply.status !== 200) throw new Error(`answered ${reply.status}: ${JSON.stringify(body)}`);
  return body;
}

/** The titles of a group, best first. */
export async function titles(easel: TestEasel, who: Pick<TestUser, 'token'>, q: string, group: SearchGroup = 'artifacts', more = '') {
  return (await found(easel, who, q, `&groups=${group}${more}`))[group].map(({ title }) => title);
}

/** Waits until nothing is queued. The index is told of each change and begins by itself. */
export async function indexed(easel: TestEasel): Promise<void> {
  const isEmpty = async () => expect(await easel.sql`select artifact_id from search_turn`).toHaveLength(0);
  await vi.waitFor(isEmpty, { timeout: 60_000, interval: 20 });
}

export function page(easel: TestEasel, who: Pick<TestUser, 'token'>, name: string, text: string, more: object = {}) {
  const content = `<!doctype html><html><head><title>${name}</title><style>.cyanotype{}</style></head><body><p>${text}</p><script>var zanzibar=1</script></body></html>`;
  return published(easel, who, { name, files: [{ path: 'index.html', content }], ...more });
}

/** A word that is looked for as it is, and in no other form. */
export function plainTerm(word: string): Term {
  return {
    word,
    english: word,
    spanish: word,
    stems: [],
    forms: [],
    isCommon: false,
    isBeginning: false,
    begun: null,
    near: [],
    nearest: [],
  };
}
