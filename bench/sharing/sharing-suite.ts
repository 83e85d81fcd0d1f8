/** The suite `sharing`: a private page with a viewer's cookie beside a public one, access with many grants, and the home screen in a browser. */
import { execFileSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { publishPage } from '../http/http-stage.ts';
import { chooseGenerator } from '../load/burst.ts';
import { named, runContest, tableOf } from '../load/contest.ts';
import { disturbance, type Findings, loadText, machine, publishReport } from '../report/report.ts';
import { atMost, withSpread } from '../report/statistics.ts';
import { startEasel } from '../servers/easel-process.ts';
import { type BenchDatabase, createDatabase, registerArtifacts } from '../servers/fixture.ts';
import { pinningNote, SERVER_CORE, type Server } from '../servers/processes.ts';
import { measureAccess } from './access-cost.ts';
import { measureHome } from './home.ts';
import { Viewer } from './viewer.ts';

const CONNECTIONS = 64;
const PAGES_LISTED = 500;
const PUBLIC = 'public page, no cookie';
const PRIVATE = 'private page, a viewer’s cookie';

export interface SharingOptions {
  readonly quick: boolean;
  readonly generator: string | undefined;
  /** Only the case of this name: page, access or home. */
  readonly only: string | undefined;
}

/** True when every aim was reached. */
export async function benchSharing(options: SharingOptions): Promise<boolean> {
  if (process.platform !== 'linux') throw new Error('The bench reads CPU times from /proc: run it on Linux.');
  const where = machine();
  const disturbed = disturbance();
  const wanted = (name: string) => options.only === undefined || options.only === name;
  const findings: Findings = { tables: [], verdicts: [], rounds: {} };
  if (wanted('access')) accessCost(options.quick ? 3 : 9, findings);
  const folder = await mkdtemp(join(tmpdir(), 'easel-bench-'));
  const database = await createDatabase(process.env.BENCH_DATABASE_URL ?? 'postgres://127.0.0.1:5432/postgres');
  try {
    const easel = await startEasel({ dataFolder: join(folder, 'easel'), databaseUrl: database.url, core: SERVER_CORE });
    try {
      if (wanted('page')) await pages(easel, database, options, findings);
      if (wanted('home')) await home(easel, database, options.quick ? 3 : 9, findings);
    } finally {
      await easel.stop();
    }
  } finally {
    await database.drop();
    await rm(folder, { recursive: true, force: true });
  }
  const suite = options.quick || options.only ? 'sharing-part' : 'sharing';
  await publishReport({ suite, method: [...disturbed, ...METHOD], ...findings }, { ...where, 'load average after': loadText() });
  return findings.verdicts.every((verdict) => verdict.reached);
}

const METHOD = [
  `Easel runs with its default settings, as \`node dist/main.js\`, on Postgres; ${pinningNote()}, the browser not pinned.`,
  'Rounds are interleaved; each figure is the median of the rounds with (minimum–maximum). The run is void if any answer is not 2xx.',
];

async function pages(easel: Server, database: BenchDatabase, options: SharingOptions, findings: Findings): Promise<void> {
  const generator = await chooseGenerator(options.generator);
  const owner = await Viewer.signedIn(easel, database.sql, 'owner@example.com');
  const viewer = await Viewer.signedIn(easel, database.sql, 'viewer@example.com');
  const { token } = await owner.call('POST', '/v1/me/tokens', {});
  const open = await publishPage(easel, String(token), { slug: 'open-page', visibility: 'public' });
  const closed = await publishPage(easel, String(token), { slug: 'closed-page', visibility: 'private' });
  await owner.call('POST', `/v1/artifacts/${closed.id}/collaborators`, { emails: ['viewer@example.com'], role: 'viewer' });
  await viewer.enter(closed.host);
  const shown = { ...easel, name: PUBLIC };
  const guarded = { ...easel, name: PRIVATE };
  const headersOf = (server: Server): Record<string, string> =>
    server === shown ? { Host: open.host } : { Host: closed.host, Cookie: viewer.cookieHeader(closed.host) };
  const contest = {
    title: 'GET of a published HTML file of 20 KB',
    contenders: [shown, guarded],
    load: (server: Server) => ({
      origin: server.origin,
      method: 'GET' as const,
      targets: ['/'],
      repeat: 1,
      headers: headersOf(server),
      connections: CONNECTIONS,
      durationS: options.quick ? 2 : 4,
    }),
    rounds: options.quick ? 2 : 7,
    warmUpS: options.quick ? 1 : 3,
    database,
    notes: [`Generator ${generator}, ${CONNECTIONS} connections, closed loop, one server for both.`],
  };
  const standings = await runContest(contest, generator);
  const cpu = (name: string) => named(standings, name).cpuUsEach.median;
  findings.tables.push(tableOf(contest, standings));
  findings.verdicts.push(atMost('Private page with a viewer’s cookie: server CPU to a public page', cpu(PRIVATE) / cpu(PUBLIC), 1.3, '×'));
  findings.rounds.page = standings;
}

function accessCost(rounds: number, findings: Findings): void {
  const { plain, loaded } = measureAccess(rounds);
  findings.tables.push({
    title: 'One decision about access to a private artifact in a folder below three others',
    columns: ['The caller has', 'ns each'],
    rows: [
      ['no workspace, no grant', withSpread(plain)],
      ['20 workspaces and 200 grants', withSpread(loaded)],
    ],
    notes: ['`decide` in this process, over 200 artifacts in turn; half of the grants are on an artifact, half on a folder above one.'],
  });
  findings.verdicts.push(atMost('Access with 20 workspaces and 200 grants adds', (loaded.median - plain.median) / 1000, 1, 'µs'));
  findings.rounds.access = { plain, loaded };
}

async function home(easel: Server, database: BenchDatabase, rounds: number, findings: Findings): Promise<void> {
  const person = await Viewer.signedIn(easel, database.sql, 'home@example.com');
  const { user } = (await person.call('GET', '/v1/me')) as { user: { id: string } };
  await registerArtifacts(database.sql, user.id, 0, PAGES_LISTED);
  const times = await measureHome({
    chromiumPath: process.env.CHROMIUM_PATH ?? execFileSync('which', ['chromium'], { encoding: 'utf8' }).trim(),
    origin: `http://${person.appHost}`,
    cookies: person.appCookies(),
    rounds,
  });
  findings.tables.push({
    title: `The home screen of somebody with ${PAGES_LISTED} pages, in Chromium with an empty cache`,
    columns: ['Until', 'ms'],
    rows: [
      ['interactive', withSpread(times.interactiveMs)],
      ['longest task of the main thread', withSpread(times.longestTaskMs)],
    ],
    notes: [
      `Interactive: the first ${times.cards} cards are painted and a timer runs; further ones are loaded as the end of the list comes near.`,
    ],
  });
  findings.verdicts.push(atMost(`Home with ${PAGES_LISTED} pages, interactive`, times.interactiveMs.median / 1000, 1, 's'));
  findings.rounds.home = times;
}
