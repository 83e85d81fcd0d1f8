/** An import of many small files from a drive that answers at once: files a second, and whether memory grows with their number. */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { FakeDrives } from '../../test/support/fake-drives.ts';
import { residentMb } from '../data/resident.ts';
import type { Findings } from '../report/report.ts';
import { atLeast, atMost, rounded } from '../report/statistics.ts';
import { startEasel } from '../servers/easel-process.ts';
import { createDatabase } from '../servers/fixture.ts';
import { cpuUs, SERVER_CORE, type Server } from '../servers/processes.ts';
import { Viewer } from '../sharing/viewer.ts';
import { seedWorkspaces } from './seeding.ts';

interface ImportsPlan {
  readonly folder: string;
  readonly databaseUrl: string;
  readonly files: number;
  readonly cpuProfileFolder: string | undefined;
}

const LOOK_MS = 500;
const EMAIL = 'imports@example.com';
const WORKSPACE = `wsp_${'0'.repeat(24)}`;
const BASE = `/v1/workspaces/${WORKSPACE}/file-imports`;

export async function imports({ folder, databaseUrl, files, cpuProfileFolder }: ImportsPlan, findings: Findings): Promise<void> {
  const database = await createDatabase(databaseUrl);
  const drives = await FakeDrives.start();
  const easel = await startEasel({
    dataFolder: join(folder, 'imports'),
    databaseUrl: database.url,
    core: SERVER_CORE,
    collectable: true,
    cpuProfileFolder,
    settings: {
      ...drives.settings,
      SECRET_KEY: randomBytes(32).toString('hex'),
      EGRESS_PORTS: 'any',
      EGRESS_PRIVATE_NETWORKS: '127.0.0.1',
    },
  });
  try {
    drives.folder('plans', 'root', 'Plans');
    for (let n = 0; n < files; n += 1)
      drives.file(`f${n}`, 'plans', `note ${n}.md`, `# Note ${n}\n\n${'Some words of a small file. '.repeat(20)}`);
    await seedWorkspaces(database.sql, 1);
    await (await Viewer.signedIn(easel, database.sql, EMAIL)).call('GET', '/v1/me');
    const [account] = await database.sql`select id from account where id not like 'usr_000%' order by created_at_ms desc limit 1`;
    await database.sql`
      insert into workspace_member (workspace_id, user_id, role, joined_at_ms) values (${WORKSPACE}, ${String(account?.id)}, 'owner', ${Date.now()})`;
    await database.sql`delete from mail_outbox`;
    // What somebody belongs to is kept with their session.
    const person = await Viewer.signedIn(easel, database.sql, EMAIL);
    const run = await runOf(easel, person, await sourceOf(person), files);
    findings.tables.push({
      title: `Import of ${rounded(files)} small files from a drive that answers at once, Postgres`,
      columns: ['Files/s', 'Server CPU ms each', 'Memory after a tenth, MB', 'Memory at the end, MB', 'Most, with garbage, MB'],
      rows: [[run.perS, run.serverUs / 1000 / files, run.earlyMb, run.lateMb, run.mostMb].map(rounded)],
      notes: [
        'Each becomes an artifact with a version of its own. The drive runs on the generator’s core. Memory after a tenth and at the end is without garbage, which is collected for the reading; so the most that is seen afterwards is less than it would be.',
      ],
    });
    findings.verdicts.push(atLeast('Import of small files', run.perS, 50, '/s'));
    findings.verdicts.push(
      atMost('Memory of an import: at its end to that after a tenth of the files', run.lateMb / run.earlyMb, 1.5, '×'),
    );
    findings.rounds.imports = run;
  } finally {
    await easel.stop();
    await drives.close();
    await database.drop();
  }
}

/** Connects the drive and makes a source of its folder. */
async function sourceOf(person: Viewer): Promise<string> {
  const { authorize_url: url } = (await person.call('POST', `${BASE}/connect/cloud_drive`)) as { authorize_url: string };
  const back = new URL((await fetch(url, { redirect: 'manual' })).headers.get('location') ?? '');
  await person.visit(back.pathname + back.search);
  const browse = async (ref: string) =>
    ((await person.call('GET', `${BASE}/browse/cloud_drive?ref=${ref}`)) as { entries: { ref: string; name: string }[] }).entries;
  const [drive] = await browse('root');
  const plans = (await browse(drive?.ref ?? '')).find(({ name }) => name === 'Plans');
  const target = (await person.call('POST', `/v1/workspaces/${WORKSPACE}/folders`, { name: 'Imported' })) as { id: string };
  const source = await person.call('POST', `${BASE}/sources`, { provider: 'cloud_drive', ref: plans?.ref, targetFolderId: target.id });
  return String(source.id);
}

async function runOf(easel: Server, person: Viewer, sourceId: string, files: number) {
  const begun = performance.now();
  const before = await cpuUs(easel.pid);
  const { run } = (await person.call('POST', `${BASE}/sources/${sourceId}/sync`)) as { run: { id: string } };
  const residentNow = async () => (await residentMb(easel.pid)).nowMb;
  // Collected twice, which costs the run next to nothing.
  const withoutGarbage = async () => {
    easel.signal('SIGUSR2');
    await pause(LOOK_MS);
    return residentNow();
  };
  let earlyMb = Number.NaN;
  let mostMb = 0;
  for (;;) {
    const { run: now } = (await person.call('GET', `${BASE}/runs/${run.id}`)) as {
      run: { finishedAt: string | null; status: string; counts: { found: number; imported: number } };
    };
    const nowMb = await residentNow();
    if (Number.isNaN(earlyMb) && now.counts.imported >= files / 10) earlyMb = await withoutGarbage();
    mostMb = Math.max(mostMb, nowMb);
    if (now.finishedAt !== null) {
      if (now.status !== 'completed') throw new Error(`The import ended as ${JSON.stringify(now)}.`);
      const seconds = (performance.now() - begun) / 1000;
      return {
        ...{ files: now.counts.imported, perS: now.counts.imported / seconds, serverUs: (await cpuUs(easel.pid)) - before },
        ...{ earlyMb, lateMb: await withoutGarbage(), mostMb },
      };
    }
    await pause(LOOK_MS);
  }
}
