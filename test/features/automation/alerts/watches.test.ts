/** Watches: what is usual, when the bell rings, and what a change of a table starts. Source: contract.md §8, §15. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import { baselineOf, isKept, ringOf } from '../../../../src/features/automation/watches/rules.ts';
import { databaseKinds } from '../../../support/database.ts';
import { startTestEasel, type TestEasel } from '../../../support/easel.ts';
import { json, patch, post, refusal } from '../../../support/requests.ts';
import { type AlertPage, AlertStage } from './alert-stage.ts';

const QUARTER_MS = 15 * 60_000;

describe('what is usual', () => {
  const seen = (...values: number[]) => values.map((value, at) => ({ at_ms: at, value }));

  test('the median of three values at least', () => {
    expect([baselineOf(seen(1, 9)), baselineOf(seen(9, 1, 5)), baselineOf(seen(1, 9, 5, 6))]).toEqual([null, 5, 5.5]);
  });

  test.each([
    [120, 100, 20, false, false],
    [120.5, 100, 20, false, true],
    [79, 100, 20, false, true],
    [-121, -100, 20, false, true],
    // Below one the threshold is of one.
    [0.2, 0, 20, false, false],
    [0.3, 0, 20, false, true],
    [500, null, 20, false, false],
  ])('%d beside %s with %d %% rings: %s', (value, baseline, pct, wasRinging, rings) => {
    expect(ringOf(value, baseline, pct, wasRinging).rings).toBe(rings);
  });

  test('it rings again only after the value was back within half of the threshold', () => {
    const ringing = [130, 115, 130, 109, 130].reduce<{ isRinging: boolean; rung: boolean[] }>(
      ({ isRinging, rung }, value) => {
        const ring = ringOf(value, 100, 20, isRinging);
        return { isRinging: ring.isRinging, rung: [...rung, ring.rings] };
      },
      { isRinging: false, rung: [] },
    );
    expect(ringing.rung).toEqual([true, false, false, false, true]);
  });

  test('of a table that changes all the time, values close together are not kept without end', () => {
    const many = Array.from({ length: 1000 }, (_, at) => ({ at_ms: at * 1000, value: 1 }));
    expect([isKept([], 0), isKept(many.slice(1), 1_000_000), isKept(many, 1_000_000), isKept(many, 999_000 + 300_000)]).toEqual([
      true,
      true,
      false,
      true,
    ]);
  });
});

describe.each(databaseKinds())('over %s', (database) => {
  let easel: TestEasel;
  let stage: AlertStage;
  let page: AlertPage;
  beforeAll(async () => {
    easel = await startTestEasel({ database });
    stage = new AlertStage(easel);
  });
  afterAll(() => easel.close());
  beforeEach(async () => {
    easel.clock.advance(60_000);
    page = await stage.page();
  });

  const create = (body: object = {}) => post({ artifact_id: page.id, table: 'orders', kind: 'count', ...body });
  const watch = async (body: object = {}) => (await stage.ok(page, '/v1/metric-watch', create(body))).watch;
  const insert = (...rows: object[]) => stage.ok(page, `/v1/data/${page.id}/tables/orders`, post({ rows }));
  const state = async (id: string) => (await stage.ok(page, `/v1/metric-watch/${id}`)).watch;
  const values = async (id: string) =>
    (await easel.sql<{ value: number }[]>`select value from watch_value where watch_id = ${id} order by at_ms`).map(({ value }) => value);
  /** Has it looked at so often, a quarter of an hour apart. */
  async function looks(id: string, times: number): Promise<void> {
    for (let look = 0; look < times; look += 1) {
      const before = (await values(id)).length;
      easel.clock.advance(QUARTER_MS);
      await stage.passing(async () => (await values(id)).length > before, true);
    }
  }

  test('has the fields of the contract, is changed, switched off and ended', async () => {
    const made = await stage.call(page, '/v1/metric-watch', create());
    const { watch: first } = await json(made);
    expect([made.status, first]).toEqual([
      201,
      {
        id: expect.stringMatching(/^mwt_/),
        artifact_id: page.id,
        table: 'orders',
        kind: 'count',
        column: null,
        threshold_pct: 20,
        last_value: null,
        baseline: null,
        enabled: true,
        created_at: new Date(easel.clock.nowMs()).toISOString(),
        updated_at: expect.any(String),
      },
    ]);
    const list = await stage.ok(page, `/v1/metric-watch?artifact_id=${page.id}`);
    expect(list.watches.map(({ id }: { id: string }) => id)).toEqual([first.id]);
    const path = `/v1/metric-watch/${first.id}`;
    expect((await stage.ok(page, path, patch({ threshold_pct: 35, enabled: false }))).watch).toMatchObject({
      threshold_pct: 35,
      enabled: false,
    });
    await insert({ a: 1 });
    easel.clock.advance(4 * QUARTER_MS);
    expect((await refusal(stage.call(page, path, patch({ enabled: true }, { 'if-match': '"old"' })))).slice(0, 2)).toEqual([
      409,
      'VERSION_CONFLICT',
    ]);
    expect(await stage.ok(page, path, { method: 'DELETE' })).toEqual({ success: true });
    expect((await refusal(stage.call(page, path, { method: 'DELETE' }))).slice(0, 2)).toEqual([404, 'WATCH_NOT_FOUND']);
  });

  test.each([
    [{ kind: 'sum' }, 'column'],
    [{ kind: 'last', column: '' }, 'column'],
    [{ column: 'total' }, 'column'],
    [{ kind: 'avg', column: 'total' }, 'kind'],
    [{ table: 'no table' }, 'table'],
    [{ threshold_pct: 0 }, 'threshold_pct'],
  ])('refuses %j with the field at fault', async (body, param) => {
    expect(await refusal(stage.call(page, '/v1/metric-watch', create(body)))).toEqual([400, 'INVALID_REQUEST', param]);
  });

  test('is its own of each person, who reads the data', async () => {
    const { id } = await watch();
    const stranger = { owner: await easel.newUser(), id: page.id };
    expect((await refusal(stage.call(stranger, `/v1/metric-watch/${id}`))).slice(0, 2)).toEqual([404, 'WATCH_NOT_FOUND']);
    expect((await refusal(stage.call(stranger, '/v1/metric-watch', create()))).slice(0, 2)).toEqual([404, 'ARTIFACT_NOT_FOUND']);
    await easel.sql`insert into collaborator (artifact_id, user_id, role, added_at_ms) values (${page.id}, ${stranger.owner.userId}, 'viewer', 0)`;
    await stage.ok(page, `/v1/artifacts/${page.id}`, patch({ name: 'Shared' }));
    expect((await stage.ok(stranger, `/v1/metric-watch?artifact_id=${page.id}`)).watches).toEqual([]);
    expect((await stage.ok(stranger, '/v1/metric-watch', create())).watch.id).toEqual(expect.stringMatching(/^mwt_/));
  });

  test('rings in the bell beyond the threshold, once, after it has learned', async () => {
    await insert(...Array.from({ length: 10 }, (_, at) => ({ at })));
    const { id } = await watch();
    await looks(id, 3);
    expect(await stage.bell(page)).toEqual([]);
    await insert(...Array.from({ length: 3 }, (_, at) => ({ at })));
    await looks(id, 1);
    expect([await state(id), await stage.bell(page)]).toMatchObject([
      { last_value: 13, baseline: 10 },
      ['orders: rows above the usual range'],
    ]);
    await looks(id, 2);
    expect((await stage.bell(page)).length).toBe(1);
    const [notice] = (await stage.ok(page, '/v1/notifications')).notifications;
    expect(notice).toMatchObject({
      kind: 'watch.rang',
      artifact_id: page.id,
      url: `/p/${page.id}/alerts`,
      body: expect.stringContaining('13'),
    });
  });

  test('looks soon after its table has changed, and not after other changes', async () => {
    await insert({ total: 5 });
    const { id } = await watch({ kind: 'last', column: 'total' });
    await stage.passing(async () => values(id), [5]);
    await stage.setValue(page, 1);
    await stage.ok(page, `/v1/data/${page.id}/tables/others`, post({ rows: [{ total: 1 }] }));
    easel.clock.advance(60_000);
    await insert({ total: 7 });
    await stage.passing(async () => values(id), [5, 7]);
    expect((await state(id)).last_value).toBe(7);
  });

  test('a gap is no anomaly', async () => {
    const made = await insert({ total: 100 });
    const { id } = await watch({ kind: 'sum', column: 'total' });
    await looks(id, 3);
    const [row] = made.data.inserted;
    await stage.ok(page, `/v1/data/${page.id}/tables/orders/${row.id}`, { method: 'DELETE' });
    easel.clock.advance(2 * QUARTER_MS);
    await insert({ total: 101 });
    await stage.passing(async () => (await values(id)).at(-1), 101);
    expect([(await values(id)).includes(0), await stage.bell(page)]).toEqual([false, []]);
  });

  test('who may not read the data any more hears so, and the watch is switched off', async () => {
    const reader = { owner: await easel.newUser(), id: page.id };
    await easel.sql`insert into collaborator (artifact_id, user_id, role, added_at_ms) values (${page.id}, ${reader.owner.userId}, 'viewer', 0)`;
    await stage.ok(page, `/v1/artifacts/${page.id}`, patch({ name: 'Shared' }));
    const { id } = (await stage.ok(reader, '/v1/metric-watch', create())).watch;
    await easel.sql`delete from collaborator where artifact_id = ${page.id}`;
    await stage.ok(page, `/v1/artifacts/${page.id}`, patch({ name: 'Shared no more' }));
    const failures = async () =>
      (await easel.sql<{ failures: number; enabled: boolean }[]>`select failures, enabled from metric_watch where id = ${id}`)[0];
    for (let failed = (await failures())?.failures ?? 0; failed < LIMITS.alertFailuresMax; failed += 1) {
      easel.clock.advance(QUARTER_MS);
      await stage.passing(async () => ((await failures())?.failures ?? 0) > failed, true);
    }
    expect(await failures()).toEqual({ failures: LIMITS.alertFailuresMax, enabled: false });
  });

  test('a person has only so many', async () => {
    await easel.sql`
      insert into metric_watch (id, artifact_id, user_id, table_name, kind, threshold_pct, enabled, created_at_ms, updated_at_ms)
      select 'mwt_' || n, ${page.id}, ${page.owner.userId}, 'orders', 'count', 20, false, 0, 0 from generate_series(1, ${LIMITS.watchesPerArtifactMax}) n`;
    expect((await refusal(stage.call(page, '/v1/metric-watch', create()))).slice(0, 2)).toEqual([409, 'ALERT_LIMIT_EXCEEDED']);
    await easel.sql`delete from metric_watch where artifact_id = ${page.id}`;
  });
});
