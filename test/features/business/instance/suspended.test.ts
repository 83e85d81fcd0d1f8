/** What is suspended is out of reach in every other way as well, and what others have of it is theirs again afterwards. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ANONYMOUS } from '../../../../actors/access/access.ts';
import type { ArtifactId } from '../../../../protocol/core/ids.ts';
import { claimDeliveries } from '../../../../src/features/automation/alerts/event-rows.ts';
import { countOpenable } from '../../../../src/features/library/ask/rows.ts';
import { json, patch, post, published, refusal } from '../../../support/requests.ts';
import { ok } from '../../../support/visitor.ts';
import { workspaceOf } from '../../../support/workspaces.ts';
import { AlertStage, HOUR_MS } from '../../automation/alerts/alert-stage.ts';
import { type HookStage, hookStage } from '../../automation/webhooks/hook-stage.ts';
import { delivered, link } from '../../library/assets/asset-stage.ts';
import { indexed, page, titles } from '../../library/search/search-stage.ts';
import { pageIn, sharePerson, sharingStage, statusOf } from '../../sharing/external-stage.ts';

let stage: HookStage;
let easel: HookStage['easel'];
beforeAll(async () => {
  stage = await hookStage();
  easel = stage.easel;
});
afterAll(() => stage?.close());

const change = (path: string, suspended: { reason: string } | null) =>
  ok(easel.fetch(`/v1/admin/${path}`, { token: easel.adminToken, ...patch({ suspended }) }));
const SUSPENDED = { reason: 'Copied without permission' };

test('a suspended page is not found by search, and no answer is made from it', async () => {
  const [owner, stranger] = [await easel.newUser('pro'), await easel.newUser()];
  const { id } = await page(easel, owner, 'Quagga care', 'Quaggas drink twelve litres of water.', { visibility: 'public' });
  await indexed(easel);
  const names = () => Promise.all([owner, stranger].map((who) => titles(easel, who, 'quaggas')));
  const cited = async () => {
    const asked = await easel.fetch('/v1/ask', { token: stranger.token, ...post({ question: 'How much water do quaggas drink?' }) });
    return (await json(asked)).citations.map(({ artifact_id }: { artifact_id: string }) => artifact_id);
  };
  expect([await names(), await cited()]).toEqual([[['Quagga care'], ['Quagga care']], [id]]);
  await change(`artifacts/${id}`, SUSPENDED);
  expect([await names(), await cited()]).toEqual([[[], []], []]);
  // An answer that is under way ends by this.
  expect(await countOpenable(easel.sql, ANONYMOUS, [id as ArtifactId])).toBe(0);
  await change(`artifacts/${id}`, null);
  await indexed(easel);
  expect([await names(), await cited()]).toEqual([[['Quagga care'], ['Quagga care']], [id]]);
});

test('the Markdown of a suspended skill is refused, and it is in no list', async () => {
  const [owner, member] = [await easel.newUser('team'), await easel.newUser()];
  const workspace = await workspaceOf(easel, [
    [owner, 'owner'],
    [member, 'member'],
  ]);
  const markdown = '---\nname: Notes\ndescription: How we write.\n---\nOne.\n';
  const skills = `/v1/workspaces/${workspace}/skills`;
  const made = await json(await ok(easel.fetch(skills, { token: owner.token, ...post({ markdown }) }), 201));
  const read = () => easel.fetch(`/v1/skills/${made.id}/markdown`, { token: member.token });
  const listed = async () => (await json(await easel.fetch(skills, { token: member.token }))).skills.length;
  expect([await (await read()).text(), await listed()]).toEqual([markdown, 1]);
  await change(`artifacts/${made.artifact_id}`, SUSPENDED);
  expect([await refusal(read()), await listed()]).toEqual([[404, 'SKILL_NOT_FOUND', undefined], 0]);
  await change(`artifacts/${made.artifact_id}`, null);
  expect([await (await read()).text(), await listed()]).toEqual([markdown, 1]);
});

test('what a workspace has shared outside is theirs again as soon as its suspension is lifted', async () => {
  const sharing = await sharingStage(easel, 'Lender');
  const { client } = sharing;
  const { id } = await pageIn(easel, sharing);
  await sharePerson(easel, sharing, client.email, { resource_type: 'artifact', resource_id: id, capability: 'view' });
  const shown = () => statusOf(easel, client, `/v1/artifacts/${id}`);
  expect(await shown()).toBe(200);
  await change(`workspaces/${sharing.id}`, SUSPENDED);
  // Refused by what is read now, which is kept for the next call.
  expect(await shown()).toBe(404);
  await change(`workspaces/${sharing.id}`, null);
  expect(await shown()).toBe(200);
});

test('share links of a file of a suspended workspace are closed until that is lifted', async () => {
  const owner = await easel.newUser('team');
  const id = await workspaceOf(easel, [[owner, 'owner']]);
  const base = `/v1/workspaces/${id}/assets`;
  const file = await delivered(easel, owner, 'bought elsewhere', { base });
  const { path, secret } = await link(easel, owner, file.id, {}, base);
  const opened = () => Promise.all([path, `/v1/files/${file.id}/content?link=${secret}`].map(async (at) => (await easel.fetch(at)).status));
  expect(await opened()).toEqual([200, 200]);
  await change(`workspaces/${id}`, SUSPENDED);
  expect(await opened()).toEqual([404, 404]);
  await change(`workspaces/${id}`, null);
  expect(await opened()).toEqual([200, 200]);
});

test.each(['its page', 'the workspace of its page', 'its workspace', 'who stands for it'])(
  'a webhook that is claimed while %s is suspended sends nothing more, stays on, and goes on afterwards',
  async (what) => {
    const owner = await easel.newUser('team');
    const workspaceId = await workspaceOf(easel, [[owner, 'owner']]);
    const artifact = await published(easel, owner, { workspace_id: workspaceId });
    const ofWorkspace = what === 'its workspace';
    const hook = await stage.hook(
      owner,
      ofWorkspace ? { workspace_id: workspaceId, events: ['artifact.created'] } : { artifact_id: artifact.id, events: ['comment.added'] },
    );
    const happen = async (content: string) => {
      if (ofWorkspace) await published(easel, owner, { workspace_id: workspaceId });
      else await ok(easel.fetch(`/v1/data/${artifact.id}/comments`, { token: owner.token, ...post({ contextId: 'page', content }) }), 201);
    };
    let take: (() => void) | undefined;
    stage.host.answers = (_, response) => {
      take = () => response.writeHead(204).end();
    };
    await happen('first');
    await stage.received(hook.path, 1);
    await happen('second');
    const queued = () => {
      easel.clock.advance(1000);
      return stage.deliveries(owner, hook);
    };
    await expect.poll(queued).toHaveLength(2);
    const suspended =
      what === 'its page'
        ? `artifacts/${artifact.id}`
        : what === 'who stands for it'
          ? `people/${owner.userId}`
          : `workspaces/${workspaceId}`;
    await change(suspended, SUSPENDED);
    stage.host.answers = (_, response) => response.writeHead(204).end();
    take?.();
    const state = async () => {
      const [row] = await easel.sql`
        select w.disabled_reason, w.lease_ends_at is null as is_free,
          (select count(*)::int from webhook_delivery d where d.webhook_id = w.id and d.status = 'pending') as waiting
        from webhook w where w.id = ${hook.id}`;
      return row;
    };
    await expect.poll(state).toEqual({ disabled_reason: null, is_free: true, waiting: 1 });
    expect(stage.host.at(hook.path)).toHaveLength(1);
    await change(suspended, null);
    await stage.received(hook.path, 2);
    expect(await state()).toMatchObject({ disabled_reason: null });
  },
);

test('what an alert has still to deliver waits while its page or its maker is suspended', async () => {
  const alerts = new AlertStage(easel);
  const alerted = await alerts.page();
  await alerts.define(alerted);
  stage.host.answers = (_, response) => response.writeHead(503).end();
  const { id } = await alerts.rule(alerted, { destination: { kind: 'webhook', config: { url: stage.host.url('/alert') } } });
  await alerts.evaluated(alerted, id, 11);
  await alerts.passing(async () => (await alerts.events(alerted, id))[0]?.error?.includes('503'), true);
  for (const what of [`artifacts/${alerted.id}`, `people/${alerted.owner.userId}`]) {
    await change(what, SUSPENDED);
    const bounds = { eventsMax: 10, perArtifactMax: 10, leaseMs: 1, busy: [] };
    expect(await claimDeliveries(easel.sql, easel.clock.nowMs() + 24 * HOUR_MS, bounds)).toEqual([]);
    await change(what, null);
  }
  stage.host.answers = (_, response) => response.writeHead(204).end();
  await alerts.passing(async () => (await alerts.events(alerted, id))[0]?.delivered, true);
});
