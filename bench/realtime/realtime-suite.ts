/** The suite `realtime`: collaborative documents compared with a raw relay, Hocuspocus and @y/websocket-server. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { disturbance, loadText, machine, publishReport } from '../report/report.ts';
import { createDatabase } from '../servers/fixture.ts';
import type { Server } from '../servers/processes.ts';
import { cold, crowd, joiners } from './arrivals.ts';
import { fanOut, flat, observers, type Part, pairs, saved, typing } from './edits.ts';
import { documentNumbers, type RealtimePlan, type RealtimeStage, seedRealtime, setRealtimeStage } from './realtime-stage.ts';
import { memory } from './weights.ts';

interface RealtimeOptions {
  readonly quick: boolean;
  readonly cpuProfile: boolean;
  /** Only the case of this name. */
  readonly only: string | undefined;
}

const CASES: Readonly<Record<string, (stage: RealtimeStage) => Promise<Part>>> = {
  'fan-out': fanOut,
  pairs,
  flat,
  observers,
  saved,
  typing,
  joiners,
  crowd,
  cold,
  memory,
};

/** True when every aim was reached. */
export async function benchRealtime({ quick, cpuProfile, only }: RealtimeOptions): Promise<boolean> {
  if (process.platform !== 'linux') throw new Error('The bench reads CPU times from /proc: run it on Linux.');
  const where = machine();
  const disturbed = disturbance();
  const folder = await mkdtemp(join(tmpdir(), 'easel-bench-'));
  const database = await createDatabase(process.env.BENCH_DATABASE_URL ?? 'postgres://127.0.0.1:5432/postgres');
  const parts = new Map<string, Part>();
  try {
    const plan: RealtimePlan = { quick, cpuProfile, folder, database };
    const token = await seedRealtime(plan);
    const numbers = documentNumbers();
    for (const [name, measure] of Object.entries(CASES)) {
      if (only === undefined || only === name)
        parts.set(name, await onStage(plan, token, numbers, (stage) => orFailed(name, () => measure(stage))));
    }
  } finally {
    await database.drop();
    await rm(folder, { recursive: true, force: true });
  }
  const all = [...parts.values()];
  const verdicts = all.flatMap((part) => part.verdicts);
  await publishReport(
    {
      suite: quick || only !== undefined ? 'realtime-part' : 'realtime',
      method: [...disturbed, ...METHOD],
      tables: all.map((part) => part.table),
      verdicts,
      rounds: Object.fromEntries([...parts].map(([name, part]) => [name, part.rounds])),
    },
    { ...where, 'load average after': loadText() },
  );
  return verdicts.every((verdict) => verdict.reached);
}

/** A case that fails is reported as not reached, so that the figures of the other cases are not lost. */
async function orFailed(name: string, measure: () => Promise<Part>): Promise<Part> {
  try {
    return await measure();
  } catch (error) {
    console.error(error);
    const said = error instanceof Error ? error.message : String(error);
    const table = { title: `Case ${name}: could not be measured`, columns: ['Why'], rows: [[said.split('\n')[0] ?? '']], notes: [] };
    return { table, verdicts: [{ what: `Case ${name}`, aim: 'measured', value: 'failed', reached: false }], rounds: said };
  }
}

/** Each case starts its own servers, because memory left over from one case would affect the next. */
async function onStage<T>(
  plan: RealtimePlan,
  token: string,
  numbers: Iterator<number>,
  act: (stage: RealtimeStage) => Promise<T>,
): Promise<T> {
  const servers: Server[] = [];
  try {
    return await act(await setRealtimeStage(plan, token, numbers, servers));
  } finally {
    await Promise.all(servers.map((server) => server.stop()));
  }
}

const METHOD = [
  'Servers are pinned to core 0 and the generator to core 1 if taskset is installed; the database is not pinned.',
  'Each edit inserts one character at the end of a text, from a Y.Doc of the generator; readers count frames and do not apply them.',
  'Each writer sends edits at a constant rate with its own phase; latency is measured from the edit.',
  'Rounds interleaved server by server, on fresh documents; each figure the median with (minimum–maximum). Server CPU is user and system time of the whole server process while edits are measured.',
  'Easel appends every edit to Postgres before it acknowledges it as saved. The raw relay applies and publishes and stores nothing; @y/websocket-server keeps documents in memory; Hocuspocus stores whole documents in Postgres, 2 s after an edit.',
];
