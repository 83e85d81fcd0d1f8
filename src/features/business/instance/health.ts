/** The endpoints of how the installation is. */

import type { z } from 'zod';
import type { SlowTurn } from '../../../../actors/runtime/ports.ts';
import type { instancePart, instanceQuota } from '../../../../protocol/business/instance-health.ts';
import { DEPENDENCIES } from '../../../../protocol/core/operations.ts';
import type { Handlers } from '../../../edge/call.ts';
import { cutPage, decodeCursor } from '../../../edge/paging.ts';
import { dateTime } from '../../../platform/date-time.ts';
import type { DependencyWatch } from '../../../platform/dependency-watch.ts';
import { allowanceOf } from '../tiers/rules.ts';
import { type Backlog, countQuotas, listQuotas, type QuotaFilter, type QuotaRow, readBacklog } from './health-rows.ts';
import type { InstanceDeps } from './people.ts';

export interface HealthDeps extends InstanceDeps {
  readonly dependencies: Pick<DependencyWatch, 'health' | 'watches'>;
  /** The newest last. */
  readonly slowTurns: () => readonly SlowTurn[];
}

type Ids = 'instanceQuotas.list' | 'instanceHealth.slowTurns' | 'instanceHealth.get';
type Part = z.input<typeof instancePart>;

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
/** What is due for longer lags behind. Each is done within seconds where its part works; a sweep may take a while. */
const LATE_MS = 10 * MINUTE_MS;
const HOUSE_LATE_MS = 6 * 60 * MINUTE_MS;

export function instanceHealthHandlers(deps: HealthDeps): Handlers<Ids> {
  const { sql, clock } = deps;
  return {
    'instanceQuotas.list': async ({ query }) => {
      const filter = { kind: query.kind, q: query.q };
      const rows = await listQuotas(sql, filter, decodeCursor(query.cursor), query.limit + 1);
      const { items, page } = cutPage(rows, query.limit, (row) => ({ number: row.used_ppm, id: row.id }));
      const total = query.count ? { total: await countQuotas(sql, filter) } : {};
      return { reply: 'ok', body: { quotas: items.map((row) => presentQuota(row, filter)), ...page, ...total } };
    },
    'instanceHealth.slowTurns': () => {
      const turns = [...deps.slowTurns()].reverse().map(({ atMs, durationMs, operation }) => {
        return { at: dateTime(atMs), ms: Math.round(durationMs * 10) / 10, operation };
      });
      return { reply: 'ok', body: { turns } };
    },
    'instanceHealth.get': async () => {
      const nowMs = clock.nowMs();
      const parts = [...dependencyParts(deps), ...backlogParts(await readBacklog(sql, nowMs, nowMs - DAY_MS), nowMs)];
      const state = worstOf(parts);
      return { reply: 'ok', body: { state, parts } };
    },
  };
}

function worstOf(parts: readonly Part[]): Part['state'] {
  const isDown = parts.some(({ name, state }) => state === 'down' && (name === 'database' || name === 'objects'));
  if (isDown) return 'down';
  return parts.every(({ state }) => state === 'up') ? 'up' : 'degraded';
}

function dependencyParts({ dependencies }: HealthDeps): Part[] {
  return DEPENDENCIES.filter((name) => dependencies.watches(name)).map((name) => {
    const health = dependencies.health(name);
    if (health.state === 'up') return { name, state: 'up', detail: null, since: null };
    return { name, state: 'down', detail: health.reason, since: dateTime(health.sinceMs) };
  });
}

function backlogParts(backlog: Backlog, nowMs: number): Part[] {
  const { mailOldestMs, mailsFailed, deliveryOldestMs, webhooksFailing, runOldestMs, houseDueMs } = backlog;
  return [
    part('house_work', houseDueMs, nowMs - HOUSE_LATE_MS, null),
    part('mail_outbox', mailOldestMs, nowMs - LATE_MS, mailsFailed === 0 ? null : `${mailsFailed} mails were given up within a day`),
    part(
      ...(['webhooks', deliveryOldestMs, nowMs - LATE_MS] as const),
      webhooksFailing === 0 ? null : `${webhooksFailing} webhooks have hosts that take nothing`,
    ),
    part('jobs', runOldestMs, nowMs - LATE_MS, null),
  ];
}

/** What others' hosts and addresses do is told and does not count against the part. */
function part(name: Part['name'], oldestMs: number | null, lateBeforeMs: number, told: string | null): Part {
  if (oldestMs === null || oldestMs > lateBeforeMs) return { name, state: 'up', detail: told, since: null };
  return { name, state: 'degraded', detail: 'What is due is not done.', since: dateTime(oldestMs) };
}

function presentQuota(row: QuotaRow, { kind }: QuotaFilter): z.input<typeof instanceQuota> {
  const { bytesMax, artifactsMax } = allowanceOf(row.tier);
  const isAccount = kind === 'account';
  return {
    ...{ kind, id: row.id, name: row.name, tier: row.tier, bytes: row.bytes, bytes_max: bytesMax },
    ...{ artifacts: isAccount ? row.artifacts : null, artifacts_max: isAccount ? artifactsMax : null },
    used: row.used_ppm / 1_000_000,
  };
}
