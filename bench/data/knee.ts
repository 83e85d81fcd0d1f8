/** Searches the number of artifacts, each called at its full rate, that a server carries: doubles it until a step fails, then bisects. */
import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Paced, PacedLoad } from '../load/paced.ts';
import { rounded } from '../report/statistics.ts';
import { type BenchDatabase, VALUE } from '../servers/fixture.ts';
import { GENERATOR_CORE, moveTo, pinned, type Server } from '../servers/processes.ts';
import { wake } from '../servers/wake.ts';

const run = promisify(execFile);
export const KNEE_P99_MS = 50;
/**
 * The limit is 1000 calls in any 60 s, both ends included, so at exactly 1000 a minute a call that arrives a millisecond early is refused.
 * At 996 (16.6/s) no call is refused as long as arrival times vary by less than 240 ms.
 */
export const FULL_RATE = 996;
/** Share of the scheduled calls that must be answered within the measured time. */
const ANSWERED_SHARE_MIN = 0.98;

export interface KneePlan {
  readonly server: Server;
  readonly token: string;
  readonly database: BenchDatabase;
  readonly folder: string;
  /** First and last number of artifacts. */
  readonly least: number;
  readonly most: number;
  readonly warmUpS: number;
  readonly measuredS: number;
  /** The search ends when the gap is at most this share of the carried number. */
  readonly gapShare: number;
  /** Maximum number of steps, so that the search also ends on a noisy machine. */
  readonly stepsMax: number;
  readonly connections: number;
}

export interface Step {
  readonly artifacts: number;
  readonly paced: Paced;
  readonly carried: boolean;
}

export interface Knee {
  readonly name: string;
  /** The largest number that was carried; 0 if none was. */
  readonly artifacts: number;
  /** In the order of the search. */
  readonly steps: readonly Step[];
}

export async function findKnee(plan: KneePlan): Promise<Knee> {
  const steps: Step[] = [];
  const carries = async (artifacts: number): Promise<boolean> => {
    // The machine may have caused a failure: a step must fail twice, unless the server was far behind.
    for (let attempt = 0; attempt < 2; attempt++) {
      const step = await tryStep(plan, artifacts, plan.measuredS, steps.length);
      steps.push(step);
      if (step.carried) return true;
      if (step.paced.gaveUp) return false;
    }
    return false;
  };
  let carried = 0;
  let tooMany = plan.most + 1;
  for (let artifacts = plan.least; artifacts <= plan.most; artifacts *= 2) {
    if (!(await carries(artifacts))) {
      tooMany = artifacts;
      break;
    }
    carried = artifacts;
  }
  while (steps.length < plan.stepsMax && tooMany <= plan.most && tooMany - carried > Math.max(1, carried * plan.gapShare)) {
    const middle = Math.round((carried + tooMany) / 2);
    if (await carries(middle)) carried = middle;
    else tooMany = middle;
  }
  return { name: plan.server.name, artifacts: carried, steps };
}

/** One step of `measuredS` seconds. */
export async function tryStep(plan: KneePlan, artifacts: number, measuredS: number, seed: number): Promise<Step> {
  const { server, token, warmUpS, connections } = plan;
  await wake(server, token, 0, artifacts);
  const databasePids = await backendsApart(plan.database);
  const paced = await pace(plan, {
    origin: server.origin,
    token,
    firstArtifact: 0,
    artifacts,
    callsPerMinuteEach: FULL_RATE,
    read: { method: 'GET', path: '/json/k#' },
    write: { method: 'PUT', path: '/json/k#', body: VALUE },
    writeEvery: 10,
    connections: Math.min(connections, artifacts),
    warmUpS,
    measuredS,
    seed,
    serverPid: server.pid,
    databasePids,
  });
  const step = { artifacts, paced, carried: isCarried(paced) };
  console.log(
    `  ${server.name}, ${artifacts} artifacts: ${rounded(paced.answeredPerS)}/s, p50 ${rounded(paced.all.p50Ms)} ms, p99 ${rounded(paced.all.p99Ms)} ms, ` +
      `server ${Math.round(paced.serverShare * 100)} %, generator ${Math.round(paced.generatorShare * 100)} %, ${paced.refused} refused, ` +
      `${paced.failures} failed: ${step.carried ? 'carried' : 'too much'}`,
  );
  return step;
}

/**
 * Moves the database's processes for this run off the server's core, if permitted. Otherwise Linux wakes them on the core of the process that
 * writes to them, and the capacity of one server core cannot be measured.
 */
export async function backendsApart(database: BenchDatabase): Promise<readonly number[]> {
  const pids = await database.backends();
  if (!moveTo(pids, GENERATOR_CORE)) console.log('  The database could not be moved off the server’s core.');
  return pids;
}

export async function pace(where: { readonly folder: string }, load: PacedLoad): Promise<Paced> {
  const file = join(where.folder, 'paced.json');
  await writeFile(file, JSON.stringify(load));
  const self = process.argv[1];
  if (self === undefined) throw new Error('process.argv has no script path.');
  const [command, args] = pinned(process.execPath, ['--enable-source-maps', self, 'generate-paced', file], GENERATOR_CORE);
  const { stdout } = await run(command, args, { maxBuffer: 1024 * 1024 });
  return JSON.parse(stdout) as Paced;
}

function isCarried(paced: Paced): boolean {
  const kept = paced.answeredPerS >= paced.intendedPerS * ANSWERED_SHARE_MIN;
  return kept && !paced.gaveUp && paced.all.p99Ms <= KNEE_P99_MS && paced.refused === 0 && paced.failures === 0;
}
