/** The headline: the number of artifacts, each at its full rate, that one server core carries. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Table } from '../report/report.ts';
import { atLeast, rounded, type Verdict } from '../report/statistics.ts';
import type { Server } from '../servers/processes.ts';
import { type DataStage, WITH_KEYS } from './data-stage.ts';
import { FULL_RATE, findKnee, KNEE_P99_MS, type Knee, type KneePlan, type Step, tryStep } from './knee.ts';
import { kneeChart } from './knee-chart.ts';

/** Connections of the open loop. Each carries one call at a time; the wait for a free one counts as latency. */
const CONNECTIONS = 512;
/** Longer than the window of the rate limit. */
const WINDOW_S = 62;
const AIM = 3000;
/** Share of a core used by other processes above which the run is disturbed. The database's writers take about a quarter of it. */
const OTHERS_SHARE_MAX = 0.4;

export interface Headline {
  readonly table: Table;
  readonly verdicts: readonly Verdict[];
  readonly rounds: unknown;
}

export async function headline(stage: DataStage, chartName: string): Promise<Headline> {
  const easel = await findKnee(planOf(stage, stage.easel, 500, WITH_KEYS));
  const fastify = await findKnee({
    ...planOf(stage, stage.fastify, 64, 4096),
    measuredS: stage.quick ? 2 : 4,
    gapShare: 0.25,
    stepsMax: 8,
  });
  const whole = stage.quick ? undefined : await wholeWindow(stage, easel);
  const carried = whole?.artifacts ?? easel.artifacts;
  const raw = await tryStep(planOf(stage, stage.raw, 1, WITH_KEYS), Math.max(1, carried), stage.quick ? 2 : 10, 1);
  const chart = kneeChart([easel, fastify], 'Latency as artifacts are added, one server core');
  await mkdir(join('bench', 'results'), { recursive: true });
  await writeFile(join('bench', 'results', chartName), chart);
  const steps = [
    ...easel.steps.map((step) => row(easel.name, step)),
    ...(whole === undefined ? [] : [row(`${easel.name}, ${WINDOW_S} s`, whole)]),
    ...fastify.steps.map((step) => row(fastify.name, step)),
    row('raw uWebSockets.js', raw),
  ];
  return {
    table: {
      title: 'Headline: artifacts that one server core carries, each at its full rate',
      columns: [
        'Server',
        'Artifacts',
        'Calls/s',
        'p50 ms',
        'p99 ms',
        'p99 reads',
        'p99 writes',
        '429',
        'Failed',
        'Server core',
        'CPU µs each',
        'Database core',
        'Generator core',
        'Others',
        'Verdict',
      ],
      rows: steps,
      notes: notes(easel, fastify, whole, chartName),
    },
    verdicts: [
      atLeast(`Artifacts at ${FULL_RATE} calls a minute on one core, p99 ≤ ${KNEE_P99_MS} ms, none refused`, carried, AIM, 'artifacts'),
    ],
    rounds: { easel, fastify, whole, raw },
  };
}

/** Runs Easel alone at a given load after a warm-up, and prints the result without a report. */
export async function oneStep(stage: DataStage, artifacts: number): Promise<void> {
  const plan = planOf(stage, stage.easel, 1, WITH_KEYS);
  await tryStep(plan, Math.ceil(artifacts / 4), 5, 1);
  await tryStep(plan, artifacts, stage.quick ? 10 : 30, 2);
}

/** Holds the load of the knee for longer than the window of the limit, which reveals calls refused by mistake. Tries 10 % less if that fails. */
async function wholeWindow(stage: DataStage, knee: Knee): Promise<Step> {
  const plan = planOf(stage, stage.easel, 1, WITH_KEYS);
  const step = await tryStep(plan, knee.artifacts, WINDOW_S, 1000);
  if (step.carried) return step;
  return tryStep(plan, Math.floor(knee.artifacts * 0.9), WINDOW_S, 1001);
}

function planOf(stage: DataStage, server: Server, least: number, most: number): KneePlan {
  return {
    server,
    token: stage.token,
    database: stage.database,
    folder: stage.folder,
    least,
    most,
    warmUpS: stage.quick ? 1 : 3,
    measuredS: stage.quick ? 3 : 10,
    gapShare: stage.quick ? 0.25 : 0.08,
    stepsMax: 12,
    connections: CONNECTIONS,
  };
}

function row(name: string, { artifacts, paced, carried }: Step): string[] {
  return [
    name,
    String(artifacts),
    rounded(paced.answeredPerS),
    rounded(paced.all.p50Ms),
    rounded(paced.all.p99Ms),
    rounded(paced.reads.p99Ms),
    rounded(paced.writes.p99Ms),
    String(paced.refused),
    String(paced.failures),
    percent(paced.serverShare),
    rounded(paced.serverCpuUsEach),
    percent(paced.databaseShare),
    percent(paced.generatorShare),
    percent(paced.othersShare),
    paced.gaveUp ? 'far too much' : carried ? 'carried' : 'too much',
  ];
}

function notes(easel: Knee, fastify: Knee, whole: Step | undefined, chartName: string): string[] {
  const lines = [
    `![Latency over the number of artifacts](${chartName})`,
    '',
    `Easel's search ended at ${easel.artifacts} artifacts, the peer's at ${fastify.artifacts}; a step is too much if it fails twice or falls more than 3 s behind.`,
    'Raw uWebSockets.js answers the same calls with constant bytes at the load of Easel, to compare the CPU time of a call.',
  ];
  if (whole !== undefined) {
    const { artifacts, paced, carried } = whole;
    lines.push(
      `${artifacts} artifacts over ${WINDOW_S} s, longer than a window of the limit: ${paced.refused} calls refused; ${carried ? 'carried' : 'NOT carried, so the figure above is not proven'}.`,
    );
  }
  const others = Math.max(...easel.steps.map((step) => step.paced.othersShare));
  if (others > OTHERS_SHARE_MAX)
    lines.push(`The machine was busy: other processes used up to ${percent(others)} of a core, so the figure is too low.`);
  const tight = easel.steps.filter((step) => !step.carried && step.paced.generatorShare > 0.85 && step.paced.serverShare < 0.9);
  if (tight.length > 0) lines.push('In steps in which the generator used more of its core than the server, the generator was the limit.');
  return lines;
}

function percent(share: number): string {
  return `${Math.round(share * 100)} %`;
}
