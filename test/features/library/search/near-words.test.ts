/** What a misspelt word may have meant: bounded, whatever words pages put into the dictionary. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { neighboursOf } from '../../../../src/features/library/search/distance.ts';
import { documentWords } from '../../../../src/features/library/search/document-words.ts';
import { learnWords } from '../../../../src/features/library/search/index-rows.ts';
import { isSpelt } from '../../../../src/features/library/search/stems.ts';
import { NEAR_MAX, termsOf, withNear } from '../../../../src/features/library/search/terms.ts';
import { openTestDatabase, type TestDatabase } from '../../../support/database.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await openTestDatabase();
});
afterAll(() => database.close());

const learn = (words: readonly string[]) => learnWords(database.sql, words, words);
const nearOf = async (text: string) => (await withNear(database.sql, await termsOf(database.sql, text, false))).map(({ near }) => near);

test('a word with more neighbours than are looked for has none, and others keep theirs', async () => {
  await learn([...neighboursOf('dashboard').slice(0, NEAR_MAX + 1), 'revenue']);
  expect(await nearOf('dashboard revneue')).toEqual([[], expect.arrayContaining(['revenue'])]);
});

test('one with very many that are two mistakes away keeps those that are one away', async () => {
  await learn(['warehouze', 'wareehouze']);
  expect((await nearOf('warehouse'))[0]).toEqual(expect.arrayContaining(['warehouze', 'wareehouze']));
  const further = neighboursOf('warehouse').slice(0, 40).flatMap(neighboursOf);
  await learn([...new Set(further)]);
  const [near] = await nearOf('warehouse');
  expect(near).toContain('warehouze');
  expect(near).not.toContain('wareehouze');
});

test('a word of each alphabet is found one mistake away, and a long one two', async () => {
  await learn(['склад', 'αποθηκη', 'documentation']);
  expect(await nearOf('скад αποθκη documantaton')).toEqual([['склад'], ['αποθηκη'], ['documentation']]);
});

test('one search asks for all of its terms at once', async () => {
  const askedFor = async (text: string) => {
    let asked = 0;
    const counting = new Proxy(database.sql, {
      apply: (target, self, given) => {
        asked += 1;
        return Reflect.apply(target, self, given);
      },
    });
    await withNear(counting, await termsOf(database.sql, text, false));
    return asked;
  };
  expect(await askedFor('several longer words in one search')).toBe(await askedFor('several'));
});

test('a word that is begun is looked for as each word that begins so, unless these are too many', async () => {
  const begun = async (text: string) => (await termsOf(database.sql, text, true)).at(-1)?.begun;
  await learn(['quorum', 'quora', 'quorate', 'quotient']);
  expect(await begun('the quor')).toEqual(expect.arrayContaining(['quora', 'quorate', 'quorum']));
  expect(await begun('the quor')).not.toContain('quotient');
  expect(await begun('quor ')).toBeNull();
  expect(await begun('base6')).toBeNull();
  await learn(neighboursOf('quorum').map((word) => `quor${word}`));
  expect(await begun('quor')).toBeNull();
});

test('the dictionary takes words of letters, and all of a page', () => {
  const words = Array.from({ length: 6000 }, (_, at) => `word${[...String(at)].map((digit) => 'abcdefghij'[+digit]).join('')}`);
  const piece = (text: string) => ({ path: 'index.html', heading: null, text });
  const { words: said } = documentWords({ name: '', slug: '', titles: [] }, [piece(`${words.join(' ')} λόγος слово ab a1b2 한국어 שלום`)]);
  const spelt = said.filter(isSpelt);
  expect(new Set(spelt)).toEqual(new Set([...words, 'λογος', 'слово']));
});
