/** The endpoints of watches. A watch is its person's own: nobody else knows of it. */

import type { Principal } from '../../../../actors/access/access.ts';
import { checkConditions } from '../../../../actors/json/json-conditions.ts';
import { THRESHOLD_PCT_DEFAULT } from '../../../../protocol/automation/watches.ts';
import { Failure } from '../../../../protocol/core/errors.ts';
import { type MetricWatchId, newId } from '../../../../protocol/core/ids.ts';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import type { Endpoints } from '../../../../protocol/table.ts';
import { bodyEtag } from '../../../edge/answer.ts';
import type { Call, Handlers } from '../../../edge/call.ts';
import { cutPage, decodeCursor } from '../../../edge/paging.ts';
import { lockRow } from '../../artifacts/artifacts/rows.ts';
import type { Queries } from '../../deps.ts';
import type { ModuleDeps } from '../../module.ts';
import { accountsOf } from '../../people/accounts/rules.ts';
import { audit } from '../../workspaces/audit/audit.ts';
import { type Heads, requireRight } from '../metrics/access.ts';
import { lockTurn, setTurn, type TurnPlace } from '../metrics/turns.ts';
import { countForLimits, countWatches, deleteWatch, insertWatch, listWatches, readWatch, updateWatch, type WatchRow } from './rows.ts';
import { presentWatch } from './rules.ts';

type Ids = 'watches.list' | 'watches.create' | 'watches.get' | 'watches.update' | 'watches.delete';

export interface WatchDeps extends Pick<ModuleDeps, 'sql' | 'bus'> {
  readonly heads: Heads;
  /** Turns are due: a new watch is looked at once. */
  readonly wake: () => void;
}

export function watchHandlers(deps: WatchDeps): Handlers<Ids> {
  const { sql, heads } = deps;
  return {
    'watches.list': async ({ principal, query: { artifact_id, limit, cursor, count } }) => {
      await requireRight(heads, artifact_id, principal, 'data:read');
      const accounts = accountsOf(principal);
      const rows = await listWatches(sql, artifact_id, accounts, decodeCursor(cursor), limit + 1);
      const { items, page } = cutPage(rows, limit, ({ created_at_ms, id }) => ({ number: created_at_ms, id }));
      const total = count ? { total: await countWatches(sql, artifact_id, accounts) } : {};
      return { reply: 'ok', body: { watches: items.map(presentWatch), ...page, ...total } };
    },
    'watches.create': async (call) => {
      const row = await create(deps, call);
      await changed(deps, row);
      return { reply: 'created', body: { watch: presentWatch(row) } };
    },
    'watches.get': async ({ params, principal }) => shown(await requireWatch(sql, params.watchId, principal)),
    'watches.update': async (call) => {
      const { body, nowMs } = call;
      const row = await sql.begin(async (tx) => {
        const before = await lockedWatch(tx, call);
        const enabled = body.enabled ?? before.enabled;
        await updateWatch(tx, before.id, { thresholdPct: body.threshold_pct ?? before.threshold_pct, enabled }, nowMs);
        await setTurn(tx, turnOf(before), enabled ? nowMs : null);
        return requireWatch(tx, before.id, call.principal);
      });
      await changed(deps, row);
      return shown(row);
    },
    'watches.delete': async (call) => {
      const row = await sql.begin(async (tx) => {
        const before = await lockedWatch(tx, call);
        await deleteWatch(tx, before.id);
        return before;
      });
      await changed(deps, row);
      return { reply: 'ok', body: { success: true } };
    },
  };
}

function shown(row: WatchRow) {
  const body = { watch: presentWatch(row) };
  return { reply: 'ok', body, etag: etagOf(row) } as const;
}

/** What it sees changes how it looks, and not what is compared. */
function etagOf(row: WatchRow): string {
  return `"${row.updated_at_ms.toString(36)}.${bodyEtag(presentWatch(row)).slice(1, -1)}"`;
}

function turnOf({ artifact_id, id }: Pick<WatchRow, 'artifact_id' | 'id'>): TurnPlace {
  return { artifactId: artifact_id, of: { kind: 'watch', id } };
}

/** The nodes that own the artifact learn whose changes they look at. */
async function changed({ bus, heads, wake }: WatchDeps, { artifact_id }: WatchRow): Promise<void> {
  const head = await heads.get(artifact_id);
  bus.tell({ kind: 'artifact.changed', artifactId: artifact_id, slugs: head === null ? [] : [head.slug] });
  wake();
}

/** Throws ARTIFACT_NOT_FOUND, FORBIDDEN, ALERT_LIMIT_EXCEEDED. */
async function create({ sql, heads }: WatchDeps, call: Call<Endpoints['watches.create']>): Promise<WatchRow> {
  const { body, principal, user, nowMs } = call;
  const head = await requireRight(heads, body.artifact_id, principal, 'data:read');
  const id = newId('metricWatch');
  return sql.begin(async (tx) => {
    await lockRow(tx, head.id);
    const { ofArtifact, ofPerson } = await countForLimits(tx, head.id, accountsOf(principal));
    if (ofArtifact >= LIMITS.watchesPerArtifactMax) {
      throw new Failure('ALERT_LIMIT_EXCEEDED', { message: `An artifact may have ${LIMITS.watchesPerArtifactMax} watches.` });
    }
    if (ofPerson >= LIMITS.watchesPerPersonMax) {
      throw new Failure('ALERT_LIMIT_EXCEEDED', { message: `A person may have ${LIMITS.watchesPerPersonMax} watches.` });
    }
    const row = {
      ...{ id, artifact_id: head.id, user_id: user, table_name: body.table, kind: body.kind, column_name: body.column ?? null },
      threshold_pct: body.threshold_pct ?? THRESHOLD_PCT_DEFAULT,
    };
    await insertWatch(tx, row, nowMs);
    await setTurn(tx, turnOf(row), nowMs);
    if (head.workspaceId !== null) {
      const target = { type: 'artifact', id: head.id, name: head.slug };
      await audit(tx, call, {
        workspaceId: head.workspaceId,
        action: 'watch.create',
        target,
        detail: { table: body.table, kind: body.kind },
      });
    }
    return requireWatch(tx, id, principal);
  });
}

/** Throws WATCH_NOT_FOUND, also for those of others. */
async function requireWatch(sql: Queries, id: MetricWatchId, principal: Principal): Promise<WatchRow> {
  const row = await readWatch(sql, id);
  if (row === null || !accountsOf(principal).includes(row.user_id)) throw new Failure('WATCH_NOT_FOUND');
  return row;
}

/** For a change, under its lock and the conditions of the call. */
async function lockedWatch(tx: Queries, call: Call<Endpoints['watches.update']> | Call<Endpoints['watches.delete']>): Promise<WatchRow> {
  const { watchId } = call.params;
  await lockTurn(tx, turnOf(await requireWatch(tx, watchId, call.principal)));
  const row = await requireWatch(tx, watchId, call.principal);
  checkConditions({ etag: etagOf(row), updatedAtMs: row.updated_at_ms }, call);
  return row;
}
