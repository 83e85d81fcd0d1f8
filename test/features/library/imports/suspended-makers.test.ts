/** The run of a person who is suspended stores nothing more and waits in the queue; when the suspension is lifted, it goes on. */
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import type { ImportRunId } from '../../../../protocol/core/ids.ts';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import { type Claim, renewClaim } from '../../../../src/features/library/imports/runs.ts';
import { startTestEasel, type TestEasel } from '../../../support/easel.ts';
import { FakeDrives } from '../../../support/fake-drives.ts';
import { beginRun, connect, type ImportHome, importHome, importsPath, runEnded, sourceOf } from '../../../support/import-home.ts';
import { json, patch } from '../../../support/requests.ts';

let easel: TestEasel;
let drives: FakeDrives;
let home: ImportHome;
beforeAll(async () => {
  drives = await FakeDrives.start();
  easel = await startTestEasel({ settings: drives.settings });
});
afterAll(async () => {
  await easel.close();
  await drives.close();
});
beforeEach(async () => {
  drives.fault = () => undefined;
  home = await importHome(easel);
  await connect(easel, home, 'cloud_drive');
  drives.clear();
  drives.folder('plans', 'root', 'Plans');
});

const runNow = async (runId: string) =>
  (await json(await easel.fetch(importsPath(home, `/runs/${runId}`), { token: home.owner.token }))).run;

async function suspend(suspended: { reason: string } | null): Promise<void> {
  const path = `/v1/admin/people/${home.member.userId}`;
  const reply = await easel.fetch(path, { token: easel.adminToken, ...patch({ suspended }) });
  expect(reply.status).toBe(200);
}

/** The run when it waits again. A call that waits for its provider and looks at the queue are moved on by `stepMs`. */
async function givenBack(runId: string, stepMs: number) {
  for (;;) {
    const run = await runNow(runId);
    expect(['queued', 'running']).toContain(run.status);
    if (run.status === 'queued') return run;
    easel.clock.advance(stepMs);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

const itemsOf = (sourceId: string) => easel.sql<{ path: string; mark: string | null }[]>`
  select path, mark from import_item where source_id = ${sourceId} order by path`;

it('publishes no further file of the page that it takes, and goes on after the suspension, however long that was', async () => {
  drives.file('p1', 'plans', 'a.txt');
  drives.file('p2', 'plans', 'b.txt');
  const source = await sourceOf(easel, home, 'cloud_drive');
  let isHeld = true;
  drives.fault = (path) => (path.includes('/files/p2') && isHeld ? { status: 503, headers: { 'retry-after': '100' } } : undefined);
  const asked = drives.next('/files/p2');
  const runId = await beginRun(easel, home, source.id);
  await asked;
  while ((await itemsOf(source.id)).length === 0);
  await suspend({ reason: 'Spam' });
  isHeld = false;
  await givenBack(runId, 100_000);
  expect((await itemsOf(source.id)).map(({ path }) => path)).toEqual(['a.txt']);
  // Longer than a run may take.
  easel.clock.advance(LIMITS.importRunMs + 1);
  await suspend(null);
  expect(await runEnded(easel, home, runId, 10_000)).toMatchObject({ status: 'completed', counts: { found: 2, imported: 2, failed: 0 } });
});

it('reads no further folder', async () => {
  drives.folder('below', 'plans', 'Below');
  drives.file('q1', 'below', 'a.txt');
  const source = await sourceOf(easel, home, 'cloud_drive');
  let isHeld = true;
  const listing = 'plans%27+in+parents';
  drives.fault = (path) => (path.includes(listing) && isHeld ? { status: 503, headers: { 'retry-after': '100' } } : undefined);
  const asked = drives.next(listing);
  const runId = await beginRun(easel, home, source.id);
  await asked;
  await suspend({ reason: 'Spam' });
  isHeld = false;
  drives.calls.length = 0;
  await givenBack(runId, 100_000);
  expect(drives.calls.filter((path) => path.includes('below'))).toEqual([]);
  await suspend(null);
  expect(await runEnded(easel, home, runId, 10_000)).toMatchObject({ status: 'completed', counts: { found: 1, imported: 1 } });
});

it('stores no rows of a page that was published before, and takes the file again', async () => {
  const { userId } = home.member;
  drives.file('c1', 'plans', 'list.csv', 'name,n\nada,1\n');
  const source = await sourceOf(easel, home, 'cloud_drive', { convert: true });
  // With the commit that publishes the page, so that it comes before the rows.
  await easel.sql.unsafe(`
    create function suspend_maker() returns trigger language plpgsql as $$
      begin update account set suspended_at_ms = 1, suspended_reason = 'Spam' where id = '${userId}'; return new; end $$;
    create trigger suspend_maker after insert on import_item for each row execute function suspend_maker()`);
  const runId = await beginRun(easel, home, source.id);
  while ((await itemsOf(source.id)).length === 0);
  await givenBack(runId, 1000);
  await easel.sql.unsafe('drop trigger suspend_maker on import_item; drop function suspend_maker()');
  expect(await itemsOf(source.id)).toEqual([{ path: 'list.csv', mark: null }]);
  const datasets = () => easel.sql`
    select v.name from dataset_version v join import_item i on i.artifact_id = v.artifact_id where i.source_id = ${source.id}`;
  expect(await datasets()).toEqual([]);
  await suspend(null);
  expect(await runEnded(easel, home, runId, 10_000)).toMatchObject({ status: 'completed', counts: { found: 1, converted: 1 } });
  expect(await datasets()).toHaveLength(1);
});

it('hears of it where it waits for its provider, by its lease', async () => {
  const source = await sourceOf(easel, home, 'cloud_drive');
  const id = 'imr_suspendedsuspendedsusp' as ImportRunId;
  const claim: Claim = { id, sourceId: source.id, userId: home.member.userId, claims: 1, startedAtMs: 0, leaseToken: 'of a test' };
  await easel.sql`
    insert into import_run (id, source_id, user_id, trigger, status, counts, created_at_ms, started_at_ms, claims, lease_token, lease_ends_at)
    values (${id}, ${source.id}, ${claim.userId}, 'manual', 'running', '{}', 0, 0, 1, 'of a test', now() + interval '1 h')`;
  expect(await renewClaim(easel.sql, claim, 60_000)).toBe('held');
  await suspend({ reason: 'Spam' });
  expect(await renewClaim(easel.sql, claim, 60_000)).toBe('suspended');
  await easel.sql`delete from import_run where id = ${id}`;
  expect(await renewClaim(easel.sql, claim, 60_000)).toBe('lost');
});
