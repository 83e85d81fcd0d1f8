/** Resident memory of a process with many artifacts in memory. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Table } from '../report/report.ts';
import { atMost, type Verdict } from '../report/statistics.ts';
import { startEasel } from '../servers/easel-process.ts';
import { KEYS_EACH, VALUE } from '../servers/fixture.ts';
import { SERVER_CORE } from '../servers/processes.ts';
import { wake } from '../servers/wake.ts';
import { type DataPlan, REGISTERED, WITH_KEYS } from './data-stage.ts';

const MB = 2 ** 20;
const AIM_MB = 400;

export async function residentArtifacts(plan: DataPlan, token: string): Promise<{ table: Table; verdicts: Verdict[]; rounds: unknown }> {
  const easel = await startEasel({ dataFolder: join(plan.folder, 'resident'), databaseUrl: plan.database.url, core: SERVER_CORE });
  try {
    const before = await residentMb(easel.pid);
    await wake(easel, token, 0, WITH_KEYS);
    const actors = await fetch(`${easel.origin}/metrics`).then(
      async (answer) => /^easel_actors_resident (\d+)/m.exec(await answer.text())?.[1],
    );
    if (Number(actors) !== WITH_KEYS) throw new Error(`${actors} artifacts are in memory instead of ${WITH_KEYS}.`);
    const after = await residentMb(easel.pid);
    return {
      table: {
        title: `Resident memory with ${REGISTERED} artifacts registered and ${WITH_KEYS} of them in memory`,
        columns: ['When', 'Resident set MB', 'Highest so far MB'],
        rows: [
          ['started', ...mb(before)],
          [`${WITH_KEYS} artifacts with ${KEYS_EACH} keys of ${VALUE.length} bytes`, ...mb(after)],
        ],
        notes: ['Measured without a forced garbage collection: the memory that the system must provide.'],
      },
      verdicts: [atMost(`Resident set with ${WITH_KEYS} of ${REGISTERED} artifacts in memory`, after.nowMb, AIM_MB, 'MB')],
      rounds: { before, after },
    };
  } finally {
    await easel.stop();
  }
}

interface Resident {
  readonly nowMb: number;
  readonly highestMb: number;
}

export async function residentMb(pid: number): Promise<Resident> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  const field = (name: string) => (Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1]) * 1024) / MB;
  return { nowMb: field('VmRSS'), highestMb: field('VmHWM') };
}

function mb(resident: Resident): string[] {
  return [resident.nowMb.toFixed(0), resident.highestMb.toFixed(0)];
}
