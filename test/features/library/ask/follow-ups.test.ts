/** Follow-ups to the agent of a page: what was asked before is looked for too. */
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import { ANONYMOUS } from '../../../../actors/access/access.ts';
import type { ArtifactId } from '../../../../protocol/core/ids.ts';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import { earlierQuestion, together } from '../../../../src/features/library/ask/earlier.ts';
import { sourcesOfPage } from '../../../../src/features/library/ask/retrieval.ts';
import { readerOf } from '../../../../src/features/library/search/reader.ts';
import { searchQueue } from '../../../../src/features/library/search/searching.ts';
import { startTestEasel, type TestEasel, type TestUser } from '../../../support/easel.ts';
import { json, patch, post, published } from '../../../support/requests.ts';
import { indexed } from '../search/search-stage.ts';
import { FakeModel } from './fake-model.ts';

interface Stage {
  readonly easel: TestEasel;
  readonly owner: TestUser;
  /** Says much of fish, and of penguins and otters without the word. */
  readonly page: string;
}

interface Excerpt {
  readonly heading?: string;
  readonly text: string;
}

const section = (heading: string, text: string) => `<h2>${heading}</h2><p>${text}</p>`;
const FISH = Array.from({ length: 10 }, (_, at) => section(`Pond ${at}`, `Pond number ${at} holds fish.`)).join('');
const PENGUINS = ['Breakfast', 'Lunch', 'Supper', 'Sleep'].map((meal) => section(meal, `Penguins have their ${meal} at the ice.`)).join('');
const OTTERS = section('Holt', 'Otters live by the river.');

async function stageWith(settings: Readonly<Record<string, string>>): Promise<Stage> {
  const easel = await startTestEasel({ settings });
  const owner = await easel.newUser();
  const files = (content: string) => [{ path: 'index.html', content: `<!doctype html><title>Zoo</title>${content}` }];
  const { id: page } = await published(easel, owner, { files: files(FISH + PENGUINS + OTTERS) });
  await published(easel, owner, { files: files(section('Prices', 'Penguins cost ninety thousand.')) });
  const ops = [{ op: 'text.insert', type: 'content', index: 0, text: 'Lions nap under acacias.' }];
  const written = await easel.fetch(`/v1/data/${page}/documents/notes`, { token: owner.token, ...post({ ops }) });
  expect(written.status).toBe(200);
  await indexed(easel);
  return { easel, owner, page };
}

const asked = (...questions: string[]) => questions.map((text) => ({ role: 'user', text }));

async function ask({ easel, page }: Stage, by: Partial<Pick<TestUser, 'token'>>, question: string, history?: readonly object[]) {
  const reply = await easel.fetch(`/v1/data/${page}/agent`, { ...(by.token && { token: by.token }), ...post({ question, history }) });
  expect(reply.status).toBe(200);
  return (await json(reply)).data;
}

describe('a follow-up, with a model', () => {
  const model = new FakeModel();
  let stage: Stage;
  beforeAll(async () => {
    stage = await stageWith({ ASK_BASE_URL: await model.listen(), ASK_MODEL: 'small' });
    model.behaviour = { pieces: ['So it is [1].'] };
  });
  afterAll(async () => {
    await stage?.easel.close();
    model.close();
  });

  /** What the model is given, in its order. */
  async function excerpts(question: string, history?: readonly object[], by: Partial<Pick<TestUser, 'token'>> = stage.owner) {
    await ask(stage, by, question, history);
    const told = model.calls.at(-1)?.body.messages.at(-1)?.content ?? '';
    return told.split('\n').flatMap((line): Excerpt[] => (line.startsWith('{') ? [JSON.parse(line)] : []));
  }
  const has = (word: string) => (excerpt: Excerpt) => excerpt.text.includes(word);

  it('has the passages of the question first, and then those of the question before, with a third of the places', async () => {
    const alone = await excerpts('And how much fish?');
    expect(alone).toHaveLength(LIMITS.askPassagesMax);
    expect(alone.every(has('fish'))).toBe(true);
    const both = await excerpts('And how much fish?', [
      ...asked('Where do otters live?', 'What do penguins have?'),
      { role: 'assistant', text: 'Otters.' },
    ]);
    expect(both).toHaveLength(LIMITS.askPassagesMax);
    const kept = Math.ceil(LIMITS.askPassagesMax / 3);
    expect(both.slice(0, -kept)).toEqual(alone.slice(0, -kept));
    expect(both.slice(-kept).every(has('Penguins'))).toBe(true);
    // Only the last question before counts.
    expect(both.some(has('Otters'))).toBe(false);
  });

  it('still has its subject where it finds nothing itself', async () => {
    const found = await excerpts('Xyzzy?', asked('Where do otters live?'));
    expect(found.map(({ heading }) => heading)).toEqual(['Holt']);
  });

  it('has each passage once, and leaves no place empty for those that both find', async () => {
    const alone = await excerpts('And how much fish?');
    expect(await excerpts('And how much fish?', asked('How much fish is in the ponds?'))).toHaveLength(alone.length);
    const texts = (await excerpts('And how much fish?', asked('Fish or penguins?'))).map(({ text }) => text);
    expect(new Set(texts).size).toBe(LIMITS.askPassagesMax);
    const documents = (await excerpts('Which lions nap?', asked('Do lions nap?'))).filter(has('Lions'));
    expect(documents).toHaveLength(1);
  });

  it('knows the documents that the question before is about', async () => {
    expect((await excerpts('And how much fish?')).some(has('acacias'))).toBe(false);
    const found = await excerpts('And how much fish?', asked('Where do lions nap?'));
    expect(found.findIndex(has('acacias'))).toBeGreaterThan(found.findLastIndex(has('fish')));
  });

  it('opens nothing that the question itself would not', async () => {
    expect((await excerpts('And how much fish?', asked('What do penguins cost?'))).some(has('ninety thousand'))).toBe(false);
    await stage.easel.sql`update artifact set visibility = 'public' where id = ${stage.page}`;
    await stage.easel.fetch(`/v1/artifacts/${stage.page}`, { token: stage.owner.token, ...patch({ allow_anon_agent: true }) });
    const ofVisitor = await excerpts('And how much fish?', asked('Where do lions nap?'), {});
    expect([ofVisitor.some(has('fish')), ofVisitor.some(has('acacias'))]).toEqual([true, false]);
  });

  it('takes the longest history that there may be', async () => {
    const text = 'otters '.repeat(LIMITS.askHistoryCharsMax).slice(0, LIMITS.askHistoryCharsMax);
    const found = await excerpts('And how much fish?', asked(...Array.from({ length: LIMITS.askHistoryMax }, () => text)));
    expect(found).toHaveLength(LIMITS.askPassagesMax);
    expect(found.some(has('Otters'))).toBe(true);
  });
});

describe('a follow-up, without a model', () => {
  let stage: Stage;
  beforeAll(async () => {
    stage = await stageWith({});
  });
  afterAll(() => stage?.easel.close());

  const quotes = async (question: string, history?: readonly object[]): Promise<string[]> =>
    (await ask(stage, stage.owner, question, history)).citations.map(({ quote }: { quote: string }) => quote);

  it('is answered with its own passages alone where they are enough', async () => {
    const alone = await quotes('And how much fish?');
    expect(alone).toHaveLength(LIMITS.askShownMax);
    expect(await quotes('And how much fish?', asked('What do penguins have?'))).toEqual(alone);
  });

  it('is answered with its own passages first, and then with those of the question before', async () => {
    const found = await quotes('Where do otters live?', asked('What do penguins have?'));
    expect(found).toHaveLength(LIMITS.askShownMax);
    expect(found.map((quote) => quote.split(' ')[0])).toEqual(['Otters', 'Penguins', 'Penguins']);
    expect(await quotes('Xyzzy?')).toEqual([]);
    expect(await quotes('Xyzzy?', asked('Where do otters live?'))).toEqual(['Otters live by the river.']);
  });
});

test('the earlier question is the last other one of the user, cut to the length of a question', () => {
  const user = (text: string) => ({ role: 'user', text }) as const;
  const assistant = { role: 'assistant', text: 'Nine.' } as const;
  expect(earlierQuestion('How much?', [])).toBeUndefined();
  expect(earlierQuestion('How much?', [assistant])).toBeUndefined();
  expect(earlierQuestion('How much?', [user('First?'), user('Second?'), assistant, user('  '), user(' How much? ')])).toBe('Second?');
  const long = 'x'.repeat(LIMITS.askHistoryCharsMax);
  expect(earlierQuestion('How much?', [user(` ${long}`)])).toBe('x'.repeat(LIMITS.askQuestionCharsMax));
});

test.each([
  ['abcdefgh', '', 'abcdefgh', ''],
  ['abcdefghij', 'vwxyz', 'abcde', 'vwx'],
  ['abcdefghij', 'v', 'abcdefg', 'v'],
  ['ab', 'uvwxyz12', 'ab', 'uvwxyz'],
  ['', 'vw', '', 'vw'],
  ['abcdefghij', 'abcdefghij', 'abcdefgh', ''],
  ['abcdefghij', 'jbvwxyz', 'abcdej', 'vw'],
  ['aabbcc', 'zza', 'abc', 'z'],
])('of %s and %s found before, eight places go to %s and %s', (own, earlier, first, then) => {
  const found = together([...own], [...earlier], 8, (item) => item);
  expect([found.own.join(''), found.earlier.join('')]).toEqual([first, then]);
});

test('a caller who leaves while the question is looked for ends the look for the one before too', async () => {
  const queue = searchQueue();
  const call = new AbortController();
  const looked: string[] = [];
  const passages = (_reader: unknown, { question }: { readonly question: string }, holders: object, ended: AbortSignal) =>
    queue.run(
      holders,
      async () => {
        looked.push(question);
        call.abort(new Error('left'));
        return [];
      },
      ended,
    );
  const pages = { find: () => Promise.reject(new Error('looked at the data of the page')) };
  const sought = {
    page: { artifactId: 'art_x' as ArtifactId, title: '', slug: '' },
    reader: readerOf(ANONYMOUS),
    question: 'How much?',
    earlier: 'Where do otters live?',
    withDocuments: false,
    holders: { artifact: 'art_x' },
    ended: call.signal,
  };
  const fittingOf = () => Promise.reject(new Error('looked at the words of a question'));
  await expect(sourcesOfPage({ passages, pages, fittingOf }, sought)).rejects.toThrow('left');
  expect(looked).toEqual(['How much?']);
});
