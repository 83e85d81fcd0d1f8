/** The endpoints of webhooks. */

import type { Principal } from '../../../../actors/access/access.ts';
import { checkConditions } from '../../../../actors/json/json-conditions.ts';
import { ARTIFACT_EVENTS, type WebhookEvent, WORKSPACE_EVENTS } from '../../../../protocol/automation/webhooks.ts';
import { RETENTION } from '../../../../protocol/business/retention.ts';
import { Failure } from '../../../../protocol/core/errors.ts';
import { newId, type WebhookId } from '../../../../protocol/core/ids.ts';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import type { Endpoints } from '../../../../protocol/table.ts';
import { bodyEtag } from '../../../edge/answer.ts';
import type { Call, Handlers } from '../../../edge/call.ts';
import { cutPage, decodeCursor } from '../../../edge/paging.ts';
import { lockRow, readHead } from '../../artifacts/artifacts/rows.ts';
import type { Queries } from '../../deps.ts';
import type { ModuleDeps } from '../../module.ts';
import { accountsOf } from '../../people/accounts/rules.ts';
import { lockWorkspace } from '../../workspaces/workspaces/rows.ts';
import { isManagedBy, requireManaged, type Watched } from './access.ts';
import { auditWebhook } from './auditing.ts';
import { presentDelivery, presentDetail, presentWebhook, shownWebhook, stateOf } from './present.ts';
import {
  countDeliveries,
  countWebhooks,
  deleteWebhook,
  forgetEvents,
  insertWebhook,
  listDeliveries,
  listTries,
  listWebhooks,
  lockWebhook,
  readDelivery,
  readWebhook,
  seeAll,
  updateWebhook,
  type WebhookList,
  type WebhookRow,
  wantAgain,
  writeSecrets,
} from './rows.ts';
import { placeOfSecret, type SendDeps } from './sending.ts';
import { newSecret } from './sign.ts';
import { sendTest } from './testing.ts';

type Ids = Extract<keyof Endpoints, `webhooks.${string}`>;

export interface WebhookDeps extends Pick<ModuleDeps, 'sql' | 'bus' | 'sealer'>, SendDeps {
  readonly sealer: ModuleDeps['sealer'];
  /** Something may be due. */
  readonly wake: () => void;
  /** Ends with the service. */
  readonly ending: AbortSignal;
}

const OLD_SECRET_MS = RETENTION['webhook secrets'].keptMs;

type Creating = Call<Endpoints['webhooks.create']>;
type Updating = Call<Endpoints['webhooks.update']>;

export function webhookHandlers(deps: WebhookDeps): Handlers<Ids> {
  const { sql, sealer, bus, clock } = deps;
  const changed = async (tx: Queries, principal: Principal, id: WebhookId) => requireWebhook(await lockWebhook(tx, id), tx, principal);
  return {
    'webhooks.list': async ({ principal, query, nowMs }) => {
      const of = await wantedList(sql, principal, query);
      const rows = await listWebhooks(sql, of, decodeCursor(query.cursor), query.limit + 1);
      const { items, page } = cutPage(rows, query.limit, (row) => ({ number: row.created_at_ms, id: row.id }));
      const total = query.count ? { total: await countWebhooks(sql, of) } : {};
      return { reply: 'ok', body: { webhooks: items.map((row) => presentWebhook(row, nowMs)), ...page, ...total } };
    },
    'webhooks.create': async (call) => {
      const { secret, row } = await sql.begin((tx) => create(deps, tx, call));
      await tellOthers(deps, row);
      return { reply: 'created', body: { webhook: presentWebhook(row, call.nowMs), secret } };
    },
    'webhooks.get': async ({ principal, params, nowMs }) =>
      shownWebhook(await requireWebhook(await readWebhook(sql, params.webhookId), sql, principal), nowMs),
    'webhooks.update': async (call) => {
      const row = await sql.begin((tx) => update(tx, call));
      await tellOthers(deps, row);
      deps.wake();
      return shownWebhook(row, call.nowMs);
    },
    'webhooks.delete': async (call) => {
      await sql.begin(async (tx) => {
        const row = await changed(tx, call.principal, call.params.webhookId);
        checkConditions(stateOf(row), call);
        await deleteWebhook(tx, row.id);
        await auditWebhook(tx, call, row, 'webhook.delete');
      });
      return { reply: 'ok', body: { success: true } };
    },
    'webhooks.rotate': async (call) => {
      const secret = newSecret();
      const row = await sql.begin(async (tx) => {
        const before = await changed(tx, call.principal, call.params.webhookId);
        const { id } = before;
        const oldSecret = sealer.seal(placeOfSecret(id, 'old_secret'), sealer.open(placeOfSecret(id, 'secret'), before.secret));
        const sealed = sealer.seal(placeOfSecret(id, 'secret'), secret);
        await writeSecrets(tx, id, { secret: sealed, oldSecret, oldSecretEndsMs: call.nowMs + OLD_SECRET_MS }, call.nowMs);
        await auditWebhook(tx, call, before, 'webhook.rotate');
        return requireWebhook(await readWebhook(tx, id), tx, call.principal);
      });
      return { reply: 'ok', body: { webhook: presentWebhook(row, call.nowMs), secret } };
    },
    'webhooks.test': async ({ principal, params }) => {
      const row = await requireWebhook(await readWebhook(sql, params.webhookId), sql, principal);
      const delivery = await sendTest(deps, row);
      return { reply: 'ok', body: delivery };
    },
    'webhooks.deliveries': async ({ principal, params, query }) => {
      const { id: webhookId } = await requireWebhook(await readWebhook(sql, params.webhookId), sql, principal);
      const filter = { webhookId, status: query.status };
      const rows = await listDeliveries(sql, filter, decodeCursor(query.cursor), query.limit + 1);
      const { items, page } = cutPage(rows, query.limit, ({ number }) => ({ number, id: '' }));
      const total = query.count ? { total: await countDeliveries(sql, filter) } : {};
      return { reply: 'ok', body: { deliveries: items.map(presentDelivery), ...page, ...total } };
    },
    'webhooks.delivery': async ({ principal, params }) => {
      const { id } = await requireWebhook(await readWebhook(sql, params.webhookId), sql, principal);
      const row = await readDelivery(sql, id, params.deliveryId);
      if (row === null) throw new Failure('DELIVERY_NOT_FOUND');
      const body = presentDetail(row, await listTries(sql, row.id));
      return { reply: 'ok', body, etag: bodyEtag(body) };
    },
    'webhooks.redeliver': async (call) => {
      const row = await sql.begin(async (tx) => {
        const webhook = await changed(tx, call.principal, call.params.webhookId);
        const before = await readDelivery(tx, webhook.id, call.params.deliveryId);
        if (before === null) throw new Failure('DELIVERY_NOT_FOUND');
        if (webhook.disabled_at_ms !== null) throw new Failure('WEBHOOK_DISABLED');
        await wantAgain(tx, webhook.id, before.id, clock.nowMs());
        await auditWebhook(tx, call, webhook, 'webhook.redeliver', { delivery_id: before.id });
        return readDelivery(tx, webhook.id, before.id);
      });
      if (row === null) throw new Failure('DELIVERY_NOT_FOUND');
      deps.wake();
      return { reply: 'accepted', body: presentDelivery(row) };
    },
  };

  /** The nodes that own the artifact watch its commits from now on. */
  async function tellOthers({ sql: queries }: WebhookDeps, { artifact_id }: WebhookRow): Promise<void> {
    if (artifact_id === null) return;
    const head = await readHead(queries, artifact_id);
    if (head !== null) bus.tell({ kind: 'artifact.changed', artifactId: artifact_id, slugs: [head.slug] });
  }
}

/** Throws INVALID_REQUEST for an event that does not happen to it. */
function requireEventsOf({ artifactId }: Watched, events: readonly WebhookEvent[]): void {
  const known: readonly WebhookEvent[] = artifactId === null ? WORKSPACE_EVENTS : ARTIFACT_EVENTS;
  const unknown = events.find((event) => !known.includes(event));
  if (unknown === undefined) return;
  const of = artifactId === null ? 'a workspace' : 'an artifact';
  throw new Failure('INVALID_REQUEST', {
    param: 'events',
    message: `events: ${unknown} is no event of ${of}; those are ${known.join(', ')}.`,
  });
}

/** Throws ARTIFACT_NOT_FOUND, WORKSPACE_NOT_FOUND, FORBIDDEN, WEBHOOK_LIMIT_EXCEEDED, SECRETS_NOT_CONFIGURED. */
async function create(
  { sealer }: WebhookDeps,
  tx: Queries,
  call: Creating,
): Promise<{ readonly secret: string; readonly row: WebhookRow }> {
  const { principal, body, nowMs } = call;
  const watched: Watched = { artifactId: body.artifact_id ?? null, workspaceId: body.workspace_id ?? null };
  await requireManaged(tx, principal, watched);
  requireEventsOf(watched, body.events);
  const [of, most] = await lockWatched(tx, watched);
  if ((await countWebhooks(tx, of)) >= most) throw new Failure('WEBHOOK_LIMIT_EXCEEDED');
  const id = newId('webhook');
  const secret = newSecret();
  const { url, events, description } = body;
  const sealed = sealer.seal(placeOfSecret(id, 'secret'), secret);
  await insertWebhook(tx, { id, ...watched, userId: call.user, url, events, description, secret: sealed, nowMs });
  const row = await requireWebhook(await readWebhook(tx, id), tx, principal);
  await auditWebhook(tx, call, row, 'webhook.create', { events: row.events });
  return { secret, row };
}

/** New webhooks of the same artifact or workspace wait for each other until the transaction ends. */
async function lockWatched(tx: Queries, { artifactId, workspaceId }: Watched): Promise<readonly [WebhookList, number]> {
  if (artifactId !== null) {
    await lockRow(tx, artifactId);
    return [{ artifactId }, LIMITS.webhooksPerArtifactMax];
  }
  if (workspaceId === null) throw new Error('a webhook is of an artifact or of a workspace');
  await lockWorkspace(tx, workspaceId);
  return [{ workspaceId }, LIMITS.webhooksPerWorkspaceMax];
}

/** Throws WEBHOOK_NOT_FOUND, VERSION_CONFLICT. */
async function update(tx: Queries, call: Updating): Promise<WebhookRow> {
  const { principal, params, body, nowMs } = call;
  const before = await requireWebhook(await lockWebhook(tx, params.webhookId), tx, principal);
  checkConditions(stateOf(before), call);
  const watched = { artifactId: before.artifact_id, workspaceId: before.workspace_id };
  const { url = before.url, events = before.events, description = before.description } = body;
  if (body.events !== undefined) requireEventsOf(watched, body.events);
  const wasOn = before.disabled_at_ms === null;
  const isOn = body.enabled ?? wasOn;
  const unchanged = before.disabled_reason === null ? null : { reason: before.disabled_reason, atMs: before.disabled_at_ms ?? nowMs };
  const disabled = isOn ? null : wasOn ? ({ reason: 'off', atMs: nowMs } as const) : unchanged;
  const userId = isOn && !wasOn ? call.user : before.user_id;
  await updateWebhook(tx, before.id, { url, events, description, userId, disabled }, nowMs);
  if (isOn && !wasOn) await seeAll(tx, before.id, nowMs);
  if (!isOn) await forgetEvents(tx, before.id);
  await auditWebhook(tx, call, { ...before, url }, 'webhook.update', { changed: Object.keys(body) });
  return requireWebhook(await readWebhook(tx, before.id), tx, principal);
}

/** Throws WEBHOOK_NOT_FOUND for whoever does not manage it. */
async function requireWebhook(row: WebhookRow | null, sql: Queries, principal: Principal): Promise<WebhookRow> {
  if (row !== null && (await isManagedBy(sql, principal, { artifactId: row.artifact_id, workspaceId: row.workspace_id }))) return row;
  throw new Failure('WEBHOOK_NOT_FOUND');
}

type ListQuery = Call<Endpoints['webhooks.list']>['query'];

/** Throws ARTIFACT_NOT_FOUND, WORKSPACE_NOT_FOUND, FORBIDDEN, INVALID_REQUEST. */
async function wantedList(sql: Queries, principal: Principal, { artifact_id, workspace_id }: ListQuery): Promise<WebhookList> {
  if (artifact_id !== undefined && workspace_id !== undefined) {
    throw new Failure('INVALID_REQUEST', { param: 'workspace_id', message: 'workspace_id: may not be sent together with artifact_id.' });
  }
  if (artifact_id !== undefined) {
    await requireManaged(sql, principal, { artifactId: artifact_id, workspaceId: null });
    return { artifactId: artifact_id };
  }
  if (workspace_id === undefined) return { accounts: accountsOf(principal) };
  await requireManaged(sql, principal, { artifactId: null, workspaceId: workspace_id });
  return { workspaceId: workspace_id };
}
