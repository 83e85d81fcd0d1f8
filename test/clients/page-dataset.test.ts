/** easel.dataset against the service. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Stage, stage } from '../realtime/realtime-stage.ts';
import { startTestEasel, type TestEasel } from '../support/easel.ts';
import { livePage } from './live-page.ts';

let easel: TestEasel;
let set: Stage;
beforeAll(async () => {
  easel = await startTestEasel();
  set = await stage(easel, { visibility: 'public' });
});
afterAll(() => easel.close());

const page = () => livePage({ baseUrl: easel.baseUrl, artifactId: set.artifactId, token: set.owner.token });
interface City {
  readonly city: string;
  readonly people?: number;
}

test('a page stores rows and reads them by filter, by page and all at once', async () => {
  const cities = page().easel.dataset<City>('cities');
  expect(await cities.info()).toBeUndefined();
  const rows = [{ city: 'Bern', people: 134_000 }, { city: 'Lima', people: 1e7 }, { city: 'Nowhere' }];
  expect(await cities.put(rows)).toMatchObject({ version: 1, rows: 3, columns: [{ name: 'city' }, { name: 'people', type: 'number' }] });
  expect(await cities.all()).toEqual(rows);
  const big = await cities.rows({ filter: { people: { $gt: 200_000 } }, fields: ['city'], count: true });
  expect(big).toEqual({ rows: [{ city: 'Lima' }], version: 1, hasMore: false, nextCursor: null, total: 1 });
  const first = await cities.rows({ limit: 2 });
  expect([first.rows, first.hasMore]).toEqual([rows.slice(0, 2), true]);
  await cities.put([{ city: 'Oslo' }]);
  expect((await cities.rows({ limit: 2, cursor: first.nextCursor ?? '' })).rows).toEqual(rows.slice(2));
  expect(await cities.all({ version: 1 })).toEqual(rows);
  expect(await cities.info()).toMatchObject({ version: 2, versions: [{ version: 2 }, { version: 1 }] });
  const csv = await fetch(cities.url('csv', 1), { headers: { authorization: `Bearer ${set.owner.token}` } });
  expect(await csv.text()).toBe('city,people\r\nBern,134000\r\nLima,10000000\r\nNowhere,\r\n');
});

test('a page hears of new versions of its dataset and of its deletion, and of no other dataset', async () => {
  const { easel: here } = page();
  const seen: (number | undefined)[] = [];
  const stop = here.dataset('heard').onChange((info) => seen.push(info?.version));
  await expect.poll(() => here.channel().state).toBe('live');
  await new Promise<void>((resolve) => {
    here.channel().subscribe('datasets', ({ type }) => type === 'subscribed' && resolve());
  });
  await here.dataset('other').put([{ n: 1 }]);
  await here.dataset('heard').put([{ n: 1 }]);
  await expect.poll(() => seen).toEqual([1]);
  await here.dataset('heard').put([{ n: 2 }]);
  await expect.poll(() => seen).toEqual([1, 2]);
  const init = { method: 'DELETE', token: set.owner.token };
  expect((await easel.fetch(`/v1/data/${set.artifactId}/datasets/heard`, init)).status).toBe(200);
  await expect.poll(() => seen).toEqual([1, 2, undefined]);
  stop();
  await here.dataset('heard').put([{ n: 3 }]);
  expect(seen).toEqual([1, 2, undefined]);
});
