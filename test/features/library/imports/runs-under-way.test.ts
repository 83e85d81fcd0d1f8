import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import { startTestEasel, type TestEasel } from '../../../support/easel.ts';
import { FakeDrives } from '../../../support/fake-drives.ts';
import { beginRun, connect, type ImportHome, importHome, importsPath, runEnded, sourceOf } from '../../../support/import-home.ts';
import { json, patch, post } from '../../../support/requests.ts';

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

const asMember = (path: string, init: RequestInit = {}) => easel.fetch(importsPath(home, path), { token: home.member.token, ...init });
const synced = async (sourceId: string) => runEnded(easel, home, await beginRun(easel, home, sourceId));
const namesIn = async (folderId: string) => {
  const body = await json(await easel.fetch(`/v1/artifacts?folder_id=${folderId}`, { token: home.owner.token }));
  return body.artifacts.map(({ name }: { name: string }) => name);
};

describe('between two files of one page', () => {
  /** `change` happens when the first file is stored and the second one is being fetched. */
  async function interrupted(change: (sourceId: string) => Promise<unknown>) {
    drives.file('p1', 'plans', 'a.txt');
    drives.file('p2', 'plans', 'b.txt');
    const source = await sourceOf(easel, home, 'cloud_drive');
    let isHeld = true;
    drives.fault = (path) => (path.includes('/files/p2') && isHeld ? { status: 503, headers: { 'retry-after': '100' } } : undefined);
    const asked = drives.next('/files/p2');
    const runId = await beginRun(easel, home, source.id);
    await asked;
    while ((await easel.sql`select 1 from import_item where source_id = ${source.id}`).length === 0);
    await change(source.id);
    isHeld = false;
    return runEnded(easel, home, runId, 100_000);
  }

  it('a maker who is a member no longer stores nothing more', async () => {
    const path = `/v1/workspaces/${home.workspaceId}/members/${home.member.userId}`;
    const run = await interrupted(async () => {
      expect((await easel.fetch(path, { method: 'DELETE', token: home.owner.token })).status).toBe(200);
    });
    expect(run).toMatchObject({ status: 'stopped', stopCode: 'NOT_ALLOWED', counts: { imported: 1, failed: 0 } });
  });

  it('a drive that was disconnected gives nothing more', async () => {
    const run = await interrupted(async () => {
      expect((await asMember('/connect/cloud_drive', { method: 'DELETE' })).status).toBe(200);
    });
    expect(run).toMatchObject({ status: 'stopped', stopCode: 'CONNECTION_REVOKED', counts: { imported: 1, failed: 0 } });
  });

  it('a run that has come to its time takes no further one', async () => {
    const ids = ['q1', 'q2', 'q3', 'q4'];
    for (const id of ids) drives.file(id, 'plans', `${id}.txt`);
    const source = await sourceOf(easel, home, 'cloud_drive');
    let isHeld = true;
    drives.fault = (path) => (path.includes('/files/q') && isHeld ? { status: 503, headers: { 'retry-after': '100' } } : undefined);
    const begun = Promise.all(ids.slice(0, LIMITS.importFilesAtOnce).map((id) => drives.next(`/files/${id}`)));
    const runId = await beginRun(easel, home, source.id);
    await begun;
    isHeld = false;
    easel.clock.advance(LIMITS.importRunMs + 1);
    const run = await runEnded(easel, home, runId, 100_000);
    expect(run).toMatchObject({ status: 'failed', stopCode: 'STALLED', counts: { imported: LIMITS.importFilesAtOnce } });
  });

  it('a source that was changed begins again as it is now', async () => {
    const made = await easel.fetch(`/v1/workspaces/${home.workspaceId}/folders`, { token: home.owner.token, ...post({ name: 'Later' }) });
    const folderId = (await json(made)).id;
    const run = await interrupted(async (id) => {
      expect((await asMember(`/sources/${id}`, patch({ targetFolderId: folderId }))).status).toBe(200);
    });
    expect(run).toMatchObject({ status: 'completed', counts: { found: 2, imported: 2, unchanged: 0 } });
    expect([await namesIn(home.folderId), await namesIn(folderId)]).toEqual([['a.txt'], ['b.txt']]);
  });
});

describe('what a provider says', () => {
  it('is stored as text of a bounded length, and a file that is listed twice is taken once', async () => {
    const source = await sourceOf(easel, home, 'cloud_drive');
    const name = `nul\u0000 ${'long '.repeat(400)}.txt`;
    drives.file('n1', 'plans', name, 'hello');
    const file = { id: 'n1', name, mimeType: 'text/plain', modifiedTime: `\u0000${'9'.repeat(2000)}` };
    drives.fault = (path) => (path.includes('in+parents') ? { status: 200, body: JSON.stringify({ files: [file, file] }) } : undefined);
    expect(await synced(source.id)).toMatchObject({ status: 'completed', counts: { found: 1, imported: 1 } });
    const items = await easel.sql<{ path: string; mark: string }[]>`select path, mark from import_item where source_id = ${source.id}`;
    expect(items.map(({ path, mark }) => [path, mark.length])).toEqual([
      [name.replace('\u0000', '').slice(0, 1000), 'plain '.length + 1000],
    ]);
    expect(await namesIn(home.folderId)).toHaveLength(1);
    drives.file('n2', 'plans', 'other.txt');
    expect((await synced(source.id)).counts).toMatchObject({ found: 1, imported: 0, unchanged: 1 });
  });
});

describe('a workspace where members may not publish', () => {
  it('stops the run of a member, and what had changed is taken when they may again', async () => {
    const setPolicy = async (policy: string) => {
      const path = `/v1/workspaces/${home.workspaceId}/publish-policy`;
      const reply = await easel.fetch(path, { token: home.owner.token, ...patch({ policy, approvals_required: 1 }) });
      expect(reply.status).toBe(200);
    };
    const source = await sourceOf(easel, home, 'cloud_drive');
    drives.file('t1', 'plans', 'a.txt', 'before');
    expect((await synced(source.id)).counts).toMatchObject({ imported: 1 });
    drives.file('t1', 'plans', 'a.txt', 'after');
    await setPolicy('prohibit');
    expect(await synced(source.id)).toMatchObject({ status: 'stopped', stopCode: 'NOT_ALLOWED', counts: { skipped: 0, unchanged: 0 } });
    await setPolicy('allow');
    expect((await synced(source.id)).counts).toMatchObject({ imported: 1, unchanged: 0 });
  });
});
