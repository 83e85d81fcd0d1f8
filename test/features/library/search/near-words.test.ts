/** What a misspelt word may have meant: bounded, whatever words pages put into the dictionary. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { neighboursOf } from '../../../../src/features/library/search/distance.ts';
import { documentWords } from '../../../../src/features/library/search/document-words.ts';
import { writeSpelt } from '../../../../src/features/library/search/index-rows.ts';
import { NEAR_MAX, termsOf, withNear } from '../../../../src/features/library/search/terms.ts';
import { openTestDatabase, type TestDatabase } from '../../../support/database.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await openTestDatabase();
});
afterAll(() => database.close());

const nearOf = async (text: string) => (await withNear(database.sql, await termsOf(database.sql, text, false))).map(({ near }) => near);

test('a word with more neighbours than are looked for has none, and others keep theirs', async () => {
  await writeSpelt(database.sql, [...neighboursOf('dashboard').slice(0, NEAR_MAX + 1), 'revenue']);
  expect(await nearOf('dashboard revenu')).toEqual([[], ['revenue']]);
});

test('so has one with very many that are two mistakes away', async () => {
  const further = neighboursOf('warehouse').slice(0, 40).flatMap(neighboursOf);
  await writeSpelt(database.sql, [...new Set(further)]);
  expect(await nearOf('warehouse')).toEqual([[]]);
});

test('one search asks for one term after the other', async () => {
  let running = 0;
  let most = 0;
  const terms = await termsOf(database.sql, 'several longer words in one search', false);
  const counting = new Proxy(database.sql, {
    apply: (target, self, given) => {
      running += 1;
      most = Math.max(most, running);
      return Promise.resolve(Reflect.apply(target, self, given)).finally(() => {
        running -= 1;
      });
    },
  });
  await withNear(counting, terms);
  expect(most).toBe(1);
});

test('the dictionary takes words of letters, and all of a page', () => {
  const words = Array.from({ length: 6000 }, (_, at) => `word${[...String(at)].map((digit) => 'abcdefghij'[+digit]).join('')}`);
  const piece = (text: string) => ({ path: 'index.html', heading: null, text });
  const { spelt } = documentWords({ name: '', slug: '', titles: [] }, [piece(`${words.join(' ')} λόγος слово ab a1b2 한국어 שלום`)]);
  expect(new Set(spelt)).toEqual(new Set([...words, 'λογος', 'слово']));
});
