/** What is one word in several forms, and what only begins alike. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isFormOf, stemsOf } from '../../../../src/features/library/search/forms.ts';
import { databaseKinds } from '../../../support/database.ts';
import { startTestEasel, type TestEasel, type TestUser } from '../../../support/easel.ts';
import { post } from '../../../support/requests.ts';
import { found, indexed, page } from './search-stage.ts';

// Stems as the database has them.
const SALES = { word: 'sales', english: 'sale', spanish: 'sal' };
const CARS = { word: 'cars', english: 'car', spanish: 'cars' };
const NOTES = { word: 'notes', english: 'note', spanish: 'not' };
const POLICY = { word: 'policy', english: 'polici', spanish: 'policy' };
const ADDITION = { word: 'addition', english: 'addit', spanish: 'addition' };
const CASAS = { word: 'casas', english: 'casa', spanish: 'cas' };
const CANCION = { word: 'cancion', english: 'cancion', spanish: 'cancion' };

test.each([
  [SALES, 'sale'],
  [CARS, 'car'],
  [NOTES, 'note'],
  [POLICY, 'policies'],
  [ADDITION, 'additionally'],
  [CASAS, 'casa'],
  [CANCION, 'canciones'],
])('$word: $1 is a form of it', (term, word) => {
  expect(isFormOf(word, term)).toBe(true);
});

test.each([
  [SALES, ['sal', 'salad', 'salmon', 'salami', 'salary', 'salt', 'salesman']],
  [CARS, ['careful', 'cargo', 'cartons', 'carbon', 'carpets', 'care']],
  [NOTES, ['not', 'nothing', 'notion']],
  [CASAS, ['caso', 'castle', 'case']],
])('$word: what only begins like it is none', (term, words) => {
  expect(words.filter((word) => isFormOf(word, term))).toEqual([]);
});

test('a short Spanish stem is looked for only as the singular', () => {
  expect([SALES, CARS, CASAS, { word: 'gatos', english: 'gato', spanish: 'gat' }].map(stemsOf)).toEqual([
    ['sale'],
    ['car'],
    ['casa'],
    ['gato'],
  ]);
});

describe.each(databaseKinds())('over %s', (database) => {
  let easel: TestEasel;
  let owner: TestUser;
  beforeAll(async () => {
    easel = await startTestEasel({ database });
    owner = await easel.newUser();
    await page(
      easel,
      owner,
      'March',
      `Salad and salmon with salami are served, and the salary of the cook is paid in salt, with careful cargo of carpets.
      </p><h2>Shop</h2><p>We had a good month: the sales were forty pieces, and both cars are for sale.</p>
      <h2>Minutes</h2><p>Nothing is here but a note. La casa es grande, y las casas son caras en los meses de verano.`,
    );
    for (const name of ['Salad bar', 'Careful cargo', 'For sale'])
      expect((await easel.fetch('/v1/folders', { token: owner.token, ...post({ name }) })).status).toBe(201);
    await indexed(easel);
  });
  afterAll(() => easel.close());

  test.each([
    ['sales', ['sales', 'sale']],
    ['cars', ['cars']],
    ['notes', ['note']],
    ['casas', ['casa', 'casas']],
    ['mes', ['meses']],
  ])('%s: what is marked is the word', async (q, marked) => {
    const [hit] = (await found(easel, owner, q, '&groups=artifacts')).artifacts;
    const { text, marks } = hit?.snippet ?? { text: '', marks: [] };
    expect(marks.map(([start, end]) => text.slice(start, end))).toEqual(expect.arrayContaining(marked.slice(0, 1)));
    expect(marks.map(([start, end]) => text.slice(start, end)).filter((word) => !marked.includes(word))).toEqual([]);
  });

  test('names are found by their words, not by what begins alike', async () => {
    const names = async (q: string) => (await found(easel, owner, q, '&groups=folders')).folders.map(({ title }) => title);
    expect(await names('sales')).toEqual(['For sale']);
    expect(await names('salads')).toEqual(['Salad bar']);
  });

  test('an answer quotes the passage that says the word', async () => {
    const reply = await easel.fetch('/v1/ask', { token: owner.token, ...post({ question: 'What were the sales?' }) });
    const { answer, citations } = (await reply.json()) as { answer: string; citations: unknown[] };
    expect(answer).toContain('the sales were forty pieces');
    expect(answer).not.toContain('Salad');
    expect(citations).toHaveLength(1);
  });
});
