/** The endpoints of metrics. */
import { isDeepStrictEqual } from 'node:util';
import type { z } from 'zod';
import { checkConditions } from '../../../../actors/json/json-conditions.ts';
import type { metricDefinition } from '../../../../protocol/automation/metrics.ts';
import { Failure } from '../../../../protocol/core/errors.ts';
import type { ArtifactId } from '../../../../protocol/core/ids.ts';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import type { Endpoints } from '../../../../protocol/table.ts';
import { bodyEtag } from '../../../edge/answer.ts';
import type { Call, Handlers } from '../../../edge/call.ts';
import { cutPage, decodeCursor } from '../../../edge/paging.ts';
import { dateTime } from '../../../platform/date-time.ts';
import { lockRow } from '../../artifacts/artifacts/rows.ts';
import type { Queries } from '../../deps.ts';
import type { ModuleDeps } from '../../module.ts';
import { audit } from '../../workspaces/audit/audit.ts';
import { countRulesOfMetric, resetRulesOfMetric } from '../alerts/rows.ts';
import { type Heads, requireRight } from './access.ts';
import { filterOf } from './reading.ts';
import { countMetrics, deleteMetric, deleteSamples, listMetrics, type MetricRow, readMetric, writeMetric } from './rows.ts';
import { lockTurn, metricTurn, setTurn } from './turns.ts';

type Ids = 'metrics.list' | 'metrics.put' | 'metrics.get' | 'metrics.delete';

export interface MetricDeps extends Pick<ModuleDeps, 'sql'> {
  readonly heads: Heads;
  readonly wake: () => void;
}

export function metricHandlers(deps: MetricDeps): Handlers<Ids> {
  const { sql, heads } = deps;
  return {
    'metrics.list': async ({ principal, query: { artifact_id, limit, cursor, count } }) => {
      await requireRight(heads, artifact_id, principal, 'edit');
      const rows = await listMetrics(sql, artifact_id, decodeCursor(cursor), limit + 1);
      const { items, page } = cutPage(rows, limit, ({ created_at_ms, place }) => ({ number: created_at_ms, id: place }));
      const total = count ? { total: await countMetrics(sql, artifact_id) } : {};
      return { reply: 'ok', body: { definitions: items.map(presentMetric), ...page, ...total } };
    },
    'metrics.put': async (call) => {
      const { isNew, row } = await putMetric(deps, call);
      deps.wake();
      return { reply: isNew ? 'created' : 'changed', body: presentMetric(row) };
    },
    'metrics.get': async ({ params }) => {
      const body = presentMetric(await requireMetric(sql, params.artifactId, params.metricId));
      return { reply: 'ok', body, etag: bodyEtag(body) };
    },
    'metrics.delete': async (call) => {
      const { head, params } = call;
      const { artifactId, metricId } = params;
      await sql.begin(async (tx) => {
        await lockRow(tx, artifactId);
        await lockTurn(tx, metricTurn({ artifactId, metricId }));
        const row = await requireMetric(tx, artifactId, metricId);
        checkConditions({ etag: bodyEtag(presentMetric(row)), updatedAtMs: row.updated_at_ms }, call);
        if ((await countRulesOfMetric(tx, artifactId, metricId)) > 0) throw new Failure('METRIC_IN_USE');
        await deleteMetric(tx, artifactId, metricId);
        if (head.workspaceId === null) return;
        const target = { type: 'artifact', id: head.id, name: head.slug };
        await audit(tx, call, { workspaceId: head.workspaceId, action: 'metric.delete', target, detail: { metric_id: metricId } });
      });
      return { reply: 'ok', body: { success: true } };
    },
  };
}

/** Throws ARTIFACT_NOT_FOUND, FORBIDDEN, INVALID_FILTER, ALERT_LIMIT_EXCEEDED. */
async function putMetric({ sql, heads }: MetricDeps, call: Call<Endpoints['metrics.put']>) {
  const { body, principal, user, nowMs } = call;
  const head = await requireRight(heads, body.artifact_id, principal, 'edit');
  if (body.source.kind !== 'json_path') requireFilter(body.source.where);
  const key = { artifactId: body.artifact_id, metricId: body.metric_id };
  return sql.begin(async (tx) => {
    await lockRow(tx, key.artifactId);
    // A look that is under way either ends before, or its result is not taken.
    await lockTurn(tx, metricTurn(key));
    const before = await readMetric(tx, key.artifactId, key.metricId);
    if (before === null && (await countMetrics(tx, key.artifactId)) >= LIMITS.metricsPerArtifactMax) {
      throw new Failure('ALERT_LIMIT_EXCEEDED', { message: `An artifact may have ${LIMITS.metricsPerArtifactMax} metrics.` });
    }
    const row = {
      artifact_id: key.artifactId,
      metric_id: key.metricId,
      name: body.name ?? key.metricId,
      source: body.source,
      created_by: user,
    };
    await writeMetric(tx, row, nowMs);
    // Values of another source are no history of this one.
    if (before !== null && !isDeepStrictEqual(before.source, body.source)) {
      await deleteSamples(tx, key);
      await resetRulesOfMetric(tx, key.artifactId, key.metricId);
    }
    await setTurn(tx, metricTurn(key), nowMs);
    if (head.workspaceId !== null) {
      const target = { type: 'artifact', id: head.id, name: head.slug };
      await audit(tx, call, {
        workspaceId: head.workspaceId,
        action: 'metric.define',
        target,
        detail: { metric_id: key.metricId, source: body.source },
      });
    }
    return { isNew: before === null, row: await requireMetric(tx, key.artifactId, key.metricId) };
  });
}

/** Throws INVALID_FILTER naming `source.where`. */
function requireFilter(where: unknown): void {
  try {
    filterOf(where);
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    const param = (error.details.param ?? 'filter').replace(/^filter/, 'source.where');
    throw new Failure(error.code, { message: error.message.replace(/^filter/, 'source.where'), param });
  }
}

/** Throws METRIC_NOT_FOUND. */
export async function requireMetric(sql: Queries, artifactId: ArtifactId, metricId: string): Promise<MetricRow> {
  const row = await readMetric(sql, artifactId, metricId);
  if (row === null) throw new Failure('METRIC_NOT_FOUND', { param: 'metric_id' });
  return row;
}

function presentMetric(row: MetricRow): z.input<typeof metricDefinition> {
  const { artifact_id, metric_id, name, source, created_at_ms, updated_at_ms } = row;
  return { artifact_id, metric_id, name, source, created_at: dateTime(created_at_ms), updated_at: dateTime(updated_at_ms) };
}
