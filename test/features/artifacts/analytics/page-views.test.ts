/** Noting views: shares, failures, and several processes on one database. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type ArtifactId, newId } from '../../../../protocol/core/ids.ts';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import { PageViews } from '../../../../src/features/artifacts/analytics/page-views.ts';
import { DailySalts } from '../../../../src/features/artifacts/analytics/salts.ts';
import { allLines } from '../../../../src/storage/transfer.ts';
import { databaseKinds, openTestDatabase, SILENT, type TestDatabase } from '../../../support/database.ts';
import { VirtualClock } from '../../../support/virtual-clock.ts';

const BROWSER = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0';

describe.each(databaseKinds())('over %s', (kind) => {
  const clock = new VirtualClock();
  let database: TestDatabase;
  const refused: string[] = [];
  beforeAll(async () => {
    database = await openTestDatabase(kind);
  });
  afterAll(() => database.close());
  afterEach(() => refused.splice(0));

  /** As in a process of its own. */
  function process() {
    const deps = { sql: database.sql, clock, log: SILENT };
    const refusals = { refused: (_resource: string, share: string) => refused.push(share) };
    const views = new PageViews({ ...deps, refusals, salts: new DailySalts(deps) });
    const note = (id: ArtifactId, address: string, browser = BROWSER) =>
      views.note(id, { address, header: (name) => (name === 'user-agent' ? browser : '') });
    return { views, note };
  }

  async function artifact(): Promise<ArtifactId> {
    const id = newId('artifact');
    await database.sql`
      insert into artifact (id, name, slug, visibility, created_at_ms, updated_at_ms)
      values (${id}, 'Page', ${id.replace('_', '-')}, 'public', 0, 0)`;
    return id;
  }

  async function stored(id: ArtifactId) {
    const [row] = await database.sql<{ views: number; visitors: number; bytes: number }[]>`
      select views, visitors, length(sketch) as bytes from page_view where artifact_id = ${id}`;
    return row;
  }

  const address = (n: number) => `10.${(n >> 16) & 255}.${(n >> 8) & 255}.${n & 255}`;

  test('several processes add up, and know each other’s visitors', async () => {
    const ids = await Promise.all([artifact(), artifact()]);
    const [first, second] = [process(), process()];
    for (const id of ids) {
      for (let n = 0; n < 60; n += 1) first.note(id, address(n));
      for (let n = 40; n < 100; n += 1) second.note(id, address(n));
    }
    await Promise.all([first.views.flush(), second.views.flush()]);
    for (const id of ids) expect(await stored(id)).toEqual({ views: 120, visitors: 100, bytes: 800 });
  });

  test('a day never takes more than a kilobyte, and never has fewer visitors than before', async () => {
    const id = await artifact();
    const { views, note } = process();
    let before = 0;
    for (let n = 1; n <= 400; n += 1) {
      note(id, address(n));
      if (n % 20 !== 0) continue;
      await views.flush();
      const { visitors = 0, bytes = 0 } = (await stored(id)) ?? {};
      expect(visitors).toBeGreaterThanOrEqual(before);
      expect(bytes).toBeLessThanOrEqual(1024);
      before = visitors;
    }
    expect(Math.abs(before - 400)).toBeLessThan(60);
    expect(await stored(id)).toMatchObject({ views: 400, bytes: 1024 });
  });

  test('it writes by itself some seconds after a view', async () => {
    const id = await artifact();
    const { note } = process();
    note(id, address(1));
    expect(await stored(id)).toBeUndefined();
    clock.advance(5000);
    await expect.poll(() => stored(id)).toMatchObject({ views: 1, visitors: 1 });
  });

  test('one network with ever new browsers, one visitor who reloads and one page have their shares', async () => {
    const [id, other] = [await artifact(), await artifact()];
    const { views, note } = process();
    const networkMax = LIMITS.viewersWaitingPerNetworkMax;
    for (let n = 0; n < networkMax + 100; n += 1) note(id, '192.0.2.1', `${BROWSER} ${n}`);
    expect(views.waiting).toBe(networkMax);
    expect(refused.filter((share) => share === 'network')).toHaveLength(100);
    // Others are counted meanwhile.
    note(id, '192.0.2.2');
    note(other, '192.0.2.3');
    for (let n = 0; n < LIMITS.viewsWaitingPerViewerMax + 49; n += 1) note(id, '192.0.2.2');
    expect(refused.filter((share) => share === 'caller')).toHaveLength(50);
    for (let n = 0; n < LIMITS.viewersWaitingPerArtifactMax; n += 1) note(id, address(n));
    expect(refused.filter((share) => share === 'artifact')).toHaveLength(networkMax + 1);
    note(other, '192.0.2.4');
    expect(views.waiting).toBe(LIMITS.viewersWaitingPerArtifactMax + 2);
    await views.flush();
    expect(views.waiting).toBe(0);
    expect(await stored(id)).toMatchObject({
      views: LIMITS.viewersWaitingPerArtifactMax - 1 + LIMITS.viewsWaitingPerViewerMax,
      bytes: 1024,
    });
    expect(await stored(other)).toEqual({ views: 2, visitors: 2, bytes: 16 });
    note(id, '192.0.2.1');
    expect(views.waiting).toBe(1);
    await views.flush();
  });

  test('what the database does not take is kept and tried again', async () => {
    const [id, gone] = [await artifact(), await artifact()];
    const { views, note } = process();
    note(id, address(1));
    note(gone, address(1));
    await database.sql`alter table page_view rename to page_view_away`;
    await views.flush();
    expect(views.waiting).toBe(2);
    note(id, address(1));
    note(id, address(2));
    await database.sql`alter table page_view_away rename to page_view`;
    // Views of what is purged meanwhile are forgotten, and hold up no others.
    await database.sql`delete from artifact where id = ${gone}`;
    clock.advance(5000);
    await expect.poll(() => stored(id)).toEqual({ views: 3, visitors: 2, bytes: 16 });
    expect(views.waiting).toBe(0);
  });

  test('a view is of the day on which it was noted, also when it is written after midnight', async () => {
    const id = await artifact();
    const { views, note } = process();
    const untilMidnightMs = 86_400_000 - (clock.nowMs() % 86_400_000);
    clock.advance(untilMidnightMs - 1000);
    const day = Math.floor(clock.nowMs() / 86_400_000);
    note(id, address(1));
    const late = process();
    late.note(id, address(1));
    clock.advance(2000);
    note(id, address(1));
    await views.flush();
    await late.views.flush();
    const rows = await database.sql<{ day: number; views: number; visitors: number }[]>`
      select day, views, visitors from page_view where artifact_id = ${id} order by day`;
    expect(rows).toEqual([
      { day, views: 2, visitors: 1 },
      { day: day + 1, views: 1, visitors: 1 },
    ]);
  });

  test('an export of the database leaves the salts out, because a file would keep them', async () => {
    const { views, note } = process();
    note(await artifact(), address(1));
    await views.flush();
    expect((await database.sql`select day from page_view_salt`).length).toBeGreaterThan(0);
    const tables = await database.sql.begin(async (tx) => {
      const lines: string[] = [];
      for await (const line of allLines(tx, () => undefined)) lines.push(line);
      return lines.slice(1).map((line) => JSON.parse(line).table as string);
    });
    expect(tables).toContain('page_view');
    expect(tables).not.toContain('page_view_salt');
  });

  test('the salt of a day that has long ended is not stored again', async () => {
    const id = await artifact();
    const { views, note } = process();
    const day = Math.floor(clock.nowMs() / 86_400_000);
    await database.sql`alter table page_view rename to page_view_away`;
    note(id, address(1));
    await database.sql`delete from page_view_salt`;
    clock.advance(2 * 86_400_000);
    await views.flush();
    await database.sql`alter table page_view_away rename to page_view`;
    await views.flush();
    const rows = await database.sql<{ day: number; views: number }[]>`select day, views from page_view where artifact_id = ${id}`;
    expect(rows).toEqual([{ day, views: 1 }]);
    expect(await database.sql`select day from page_view_salt where day = ${day}`).toHaveLength(0);
  });
});
