/** Prepares what the examples of the installation's administration need. */
import { newId } from '../../protocol/core/ids.ts';
import type { TestEasel, TestUser } from '../support/easel.ts';
import { post } from '../support/requests.ts';
import { newWorkspace } from '../support/workspaces.ts';
import { webhookArrangements } from './examples-webhooks.ts';

/** What these examples need of the world of `examples.ts`. */
interface World {
  readonly easel: TestEasel;
  readonly owner: TestUser;
  readonly viewer: TestUser;
  readonly artifactId: string;
}

interface Arranged {
  readonly ids?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

async function workspace({ easel }: World): Promise<Arranged> {
  return { ids: { workspace: await newWorkspace(easel, {}) } };
}

/** One that was given up. */
async function mail({ easel }: World): Promise<Arranged> {
  const id = newId('mail');
  await easel.sql`
    insert into mail_outbox (id, recipient, subject, kind, created_at_ms) values (${id}, 'grace@example.com', 'Hello', 'notice', ${easel.clock.nowMs()})`;
  return { ids: { mail: id } };
}

async function finished({ easel, owner }: World): Promise<Arranged> {
  const asked = await easel.fetch('/v1/me/export', { token: owner.token, method: 'POST' });
  const { id } = (await asked.json()) as { readonly id: string };
  for (;;) {
    const [row] = await easel.sql<{ status: string; error: string | null }[]>`select status, error from person_export where id = ${id}`;
    if (row?.status === 'done') return { ids: { personExport: id } };
    if (row?.status === 'failed' || row?.error) throw new Error(`the export failed: ${row.error}`);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** Its address is the one that the example confirms with. */
async function addressed({ easel, viewer }: World): Promise<Arranged> {
  await easel.sql`update account set email = 'grace@example.com' where id = ${viewer.userId}`;
  return {};
}

async function deletion(world: World): Promise<Arranged> {
  await addressed(world);
  const body = { confirm: 'grace@example.com', grace_days: 7 };
  const reply = await world.easel.fetch(`/v1/admin/people/${world.viewer.userId}/deletion`, {
    token: world.easel.adminToken,
    ...post(body),
  });
  if (!reply.ok) throw new Error(`a deletion answered ${reply.status}: ${await reply.text()}`);
  return { ids: { personDeletion: ((await reply.json()) as { readonly id: string }).id } };
}

/** There is something to switch on. The cache of the process does not hear of it. */
async function switchedOff({ easel }: World): Promise<Arranged> {
  await easel.sql`
    insert into instance_flag (name, enabled, changed_at_ms) values ('ask', false, 1) on conflict (name) do update set enabled = false`;
  return {};
}

async function bannered({ easel }: World): Promise<Arranged> {
  const body = { text: 'We are back at noon.' };
  const reply = await easel.fetch('/v1/admin/banner', { token: easel.adminToken, ...post(body), method: 'PUT' });
  if (!reply.ok) throw new Error(`a banner answered ${reply.status}: ${await reply.text()}`);
  return {};
}

export const instanceArrangements = {
  'instanceFlags.update': switchedOff,
  'banner.clear': bannered,
  'banner.set': bannered,
  'instanceWorkspaces.get': workspace,
  'instanceWorkspaces.update': workspace,
  'instanceMails.retry': mail,
  'instanceMails.drop': mail,
  'instanceDeliveries.redeliver': webhookArrangements['webhooks.redeliver'],
  'personData.fileOfMine': finished,
  'personData.file': finished,
  'personData.delete': addressed,
  'personData.deletion': deletion,
  'personData.cancel': deletion,
};
