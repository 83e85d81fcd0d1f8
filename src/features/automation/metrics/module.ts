import { RETENTION } from '../../../../protocol/business/retention.ts';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import type { Module, ModuleDeps } from '../../module.ts';
import { metricHandlers } from './handlers.ts';
import { MetricReader, type MetricReaderDeps } from './reading.ts';
import { addSample, deleteOldSamples, readMetric } from './rows.ts';
import { TurnLoop } from './turn-loop.ts';
import { type Claim, endTurn } from './turns.ts';

type Ids = keyof ReturnType<typeof metricHandlers>;

const SAMPLE_EVERY_MS = 3_600_000;
const SAMPLES_KEPT_MS = RETENTION.metricSamples.keptMs;

interface Offered {
  readonly turns: TurnLoop;
  readonly reader: MetricReader;
}

export function metricsModule(deps: ModuleDeps & Pick<MetricReaderDeps, 'heads' | 'reads'>): Module<Ids> & Offered {
  const { sql, clock } = deps;
  const turns = new TurnLoop(deps);
  const reader = new MetricReader(deps);
  turns.take('metric', (claim) => keepSample({ ...deps, reader }, claim));
  return {
    turns,
    reader,
    handlers: metricHandlers({ ...deps, wake: () => turns.wake() }),
    sweeps: [
      { name: 'metricSamples', run: () => deleteOldSamples(sql, clock.nowMs() - SAMPLES_KEPT_MS, LIMITS.metricSamplesPerMetricMax) },
    ],
    gauges: [{ name: 'easel_metric_looks', help: 'Metrics that are looked at now.', read: () => turns.running }],
    start: () => turns.start(),
    close: () => turns.close(),
  };
}

/** Every hour, so that a rule can be tested over what was before it. */
async function keepSample({ sql, clock, reader }: ModuleDeps & { readonly reader: MetricReader }, claim: Claim): Promise<void> {
  if (claim.of.kind !== 'metric') throw new Error('this is the turn of something else');
  const key = { artifactId: claim.artifactId, metricId: claim.of.metricId };
  const metric = await readMetric(sql, key.artifactId, key.metricId);
  if (metric === null) return;
  const reading = await reader.metric({ artifactId: key.artifactId, userId: metric.created_by }, metric.source);
  const nowMs = clock.nowMs();
  await sql.begin(async (tx) => {
    if (!(await endTurn(tx, claim, nowMs + SAMPLE_EVERY_MS))) return;
    if (reading.kind === 'value' && reading.value !== null) await addSample(tx, key, { at_ms: nowMs, value: reading.value });
  });
}
