/** Lists that end early and look complete. Every list pages or refuses, and a feed that catches up is complete. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { endpoints } from '../../../protocol/table.ts';
import { ChannelClient } from '../../realtime/channel-client.ts';
import { type Stage, stage } from '../../realtime/realtime-stage.ts';
import { startTestEasel, type TestEasel } from '../../support/easel.ts';
import { json, post } from '../../support/requests.ts';

const KEYS = 230;
const ROWS = 2300;
const COMMENTS = 60;
const DOCUMENTS = 60;
const VERSIONS = 55;

let easel: TestEasel;
let set: Stage;
let commentId: string;

beforeAll(async () => {
  easel = await startTestEasel();
  set = await stage(easel);
  await send('comments/_config', { ...post({ enabled: true }), method: 'PUT' });
  for (let from = 0; from < KEYS; from += 100) {
    const keys = numbers(Math.min(100, KEYS - from)).map((i) => from + i);
    await send('batch', post({ requests: keys.map((i) => ({ method: 'PUT', path: `/json/key${i}`, body: i })) }));
  }
  for (let from = 0; from < ROWS; from += 460) await send('tables/list', post(numbers(460).map((i) => ({ n: from + i }))));
  for (const i of numbers(COMMENTS)) ({ id: commentId } = await send('comments', post({ content: `comment ${i}` })));
  for (const i of numbers(DOCUMENTS)) await send(`documents/doc${i}`, append('x'));
  // The next calls belong to a new minute of the data limit.
  easel.clock.advance(60_000);
  for (const i of numbers(VERSIONS)) {
    await send('documents/doc0', append(`${i}`));
    await send('documents/doc0/versions', post({ label: `${i}` }));
  }
});
afterAll(() => easel.close());

const numbers = (count: number) => [...Array(count).keys()];
const append = (text: string) => post({ ops: [{ op: 'text.append', type: 'text', text }] });

async function send(path: string, init?: RequestInit) {
  const reply = await easel.fetch(`/v1/data/${set.artifactId}/${path}`, { token: set.owner.token, ...init });
  const body = await json(reply);
  if (!reply.ok) throw new Error(`${path}: ${reply.status} ${JSON.stringify(body)}`);
  return body.data;
}

interface List {
  readonly path: string;
  /** The name of the list in the reply. */
  readonly items: string;
  readonly total: number;
  readonly nameOf: (item: never) => unknown;
}

const idOf = ({ id }: { id: string }) => id;
const LISTS: readonly List[] = [
  { path: 'json', items: 'keys', total: KEYS, nameOf: (key: string) => key },
  { path: 'tables/list/rows', items: 'rows', total: ROWS, nameOf: ({ n }: { n: number }) => n },
  { path: 'comments', items: 'comments', total: COMMENTS, nameOf: idOf },
  { path: 'documents', items: 'documents', total: DOCUMENTS, nameOf: ({ name }: { name: string }) => name },
  { path: 'documents/doc0/versions', items: 'versions', total: VERSIONS, nameOf: ({ seq }: { seq: number }) => seq },
];

/** Reads every item page by page, and counts the pages. */
async function readAll({ path, items, nameOf }: List, limit?: number) {
  const names: unknown[] = [];
  let pages = 0;
  let cursor: string | null = '';
  while (cursor !== null) {
    const query = new URLSearchParams({ ...(limit !== undefined && { limit: `${limit}` }), ...(cursor !== '' && { cursor }) });
    const page = await send(`${path}?${query}`);
    names.push(...page[items].map(nameOf));
    pages += 1;
    expect(page.hasMore).toBe(page.nextCursor !== null);
    cursor = page.nextCursor;
  }
  return { names, pages };
}

it.each(LISTS)('[postgrest-js #171] $path: following the pages gives every item once', async (list) => {
  for (const limit of [undefined, 40]) {
    const { names, pages } = await readAll(list, limit);
    expect([names.length, new Set(names).size]).toEqual([list.total, list.total]);
    expect(pages).toBeGreaterThan(1);
  }
});

it('[truncated list] changes: following the pages gives every event', async () => {
  const headers = { accept: 'application/json' };
  const types = 'json,tables,comments,documents';
  const seen = new Map<string, number>();
  let since = 0;
  let hasMore = true;
  while (hasMore) {
    const page = await send(`changes?since=${since}&types=${types}`, { headers });
    for (const { kind, seq } of page.events) {
      expect(seq).toBeGreaterThan(since);
      seen.set(kind, (seen.get(kind) ?? 0) + 1);
    }
    since = page.nextSeq;
    ({ hasMore } = page);
  }
  expect(Object.fromEntries(seen)).toMatchObject({ 'json.put': KEYS, 'row.put': ROWS, 'comment:added': COMMENTS, 'doc.update': DOCUMENTS });
  expect((await send(`changes?since=${since}&types=${types}`, { headers })).events).toEqual([]);
});

it('[truncated list] a channel that catches up gets every event', async () => {
  const client = await ChannelClient.open(easel.port, set.artifactId, { token: set.owner.token });
  for (const [channel, total] of [
    ['json', KEYS],
    ['comments', COMMENTS],
  ] as const) {
    await client.subscribe(channel, 0);
    await client.until(() => client.events(channel).length === total);
    expect(new Set(client.events(channel).map(([seq]) => seq)).size).toBe(total);
  }
  client.socket.close();
});

/** The path of every GET with a `limit`. */
const limited = Object.values(endpoints).flatMap(({ method, path, ...endpoint }) => {
  const query = 'query' in endpoint ? endpoint.query : undefined;
  return method === 'GET' && query !== undefined && 'limit' in query.shape
    ? [{ path, isOfInstance: endpoint.access.who === 'instanceAdmin' }]
    : [];
});

it('[truncated list] a limit that is too large is refused by every list, never lowered', async () => {
  expect(limited.length).toBeGreaterThan(10);
  for (const { path, isOfInstance } of limited) {
    const filled = path
      .replace('{artifactId}', set.artifactId)
      .replace('{id}', set.artifactId)
      .replace('{table}', 'list')
      .replace('{doc}', 'doc0')
      .replace('{dataset}', 'doc0')
      .replace('{commentId}', commentId);
    const reply = await easel.fetch(`${filled}?limit=100001`, {
      token: isOfInstance ? easel.adminToken : set.owner.token,
      headers: { accept: 'application/json' },
    });
    expect([path, reply.status, (await json(reply)).code]).toEqual([path, 400, 'INVALID_REQUEST']);
  }
});
