/** A statement that the database ends for its time: of a read that is no bug, of everything else it is one. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestEasel, type TestEasel, type TestUser } from '../support/easel.ts';
import { json, post } from '../support/requests.ts';

const LATE = 'canceling statement due to statement timeout';
const CANCELLED = 'canceling statement due to user request';

let easel: TestEasel;
let person: TestUser;
beforeAll(async () => {
  easel = await startTestEasel();
  person = await easel.newUser('pro');
  await easel.sql`alter table search_word rename to kept_word`;
});
afterAll(() => easel?.close());

/** What each search reads, and each new folder, ends as the database ends a statement. */
async function everyStatementEnds(text: string): Promise<void> {
  const raised = `raise exception using errcode = '57014', message = '${text}'`;
  await easel.sql.unsafe(`
    create or replace function late_words() returns setof kept_word language plpgsql as $$ begin ${raised}; end $$;
    create or replace view search_word as select * from late_words();
    create or replace function late() returns trigger language plpgsql as $$ begin ${raised}; end $$;
    create or replace trigger late before insert on folder for each row execute function late()`);
}

const search = () => easel.fetch('/v1/search?q=otter', { token: person.token });
const ask = () => easel.fetch('/v1/ask', { token: person.token, ...post({ question: 'Where do otters live?' }) });
const makeFolder = () => easel.fetch('/v1/folders', { token: person.token, ...post({ name: 'Otters' }) });

test('a read answers 503 and how to ask for less; a write is reported, because nobody knows what it has done', async () => {
  await everyStatementEnds(LATE);
  for (const read of [search, ask]) {
    const reply = await read();
    expect([reply.status, reply.headers.get('retry-after')]).toEqual([503, '5']);
    expect(await json(reply)).toMatchObject({
      code: 'UNAVAILABLE',
      error: expect.stringContaining('too long'),
      hint: expect.stringContaining('less'),
    });
  }
  expect((await makeFolder()).status).toBe(500);
});

test('a statement that somebody has cancelled stays an error', async () => {
  await everyStatementEnds(CANCELLED);
  expect((await search()).status).toBe(500);
});
