/** The suite `search`: indexing, search and ask over many pages on Postgres and embedded, the quality set, and imports of many files. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import postgres from 'postgres';
import { disturbance, type Findings, loadText, machine, publishReport } from '../report/report.ts';
import { atLeast, atMost, rounded } from '../report/statistics.ts';
import { startEasel } from '../servers/easel-process.ts';
import { type BenchDatabase, createDatabase } from '../servers/fixture.ts';
import { EASEL } from '../servers/peer-process.ts';
import { pinningNote, SERVER_CORE, type Server } from '../servers/processes.ts';
import { Corpus, drawFrom, type Page, qualityPages } from './corpus.ts';
import { imports } from './imports.ts';
import { byIlike, ILIKE, Library, MINISEARCH, seedPlain } from './peers.ts';
import { quality } from './quality.ts';
import { asked, indexBytes, indexing, newPersons, searched, settled, type Timing, timed } from './search-stage.ts';
import { copyPages, seedPages, seedWorkspaces } from './seeding.ts';

export interface SearchOptions {
  readonly quick: boolean;
  readonly cpuProfile: boolean;
  /** Only the case of this name: postgres, embedded or imports. */
  readonly only: string | undefined;
}

interface Scale {
  /** Pages in all, and those of them that are indexed one by one; the others are copies. */
  readonly pages: number;
  readonly indexed: number;
  readonly workspaces: number;
  readonly searches: number;
  readonly asks: number;
}

const FULL: Scale = { pages: 100_000, indexed: 10_000, workspaces: 1000, searches: 1000, asks: 300 };
const QUICK: Scale = { pages: 4000, indexed: 2000, workspaces: 100, searches: 200, asks: 60 };
const EMBEDDED_PAGES = { full: 10_000, quick: 1000 };
const IMPORTED_FILES = { full: 10_000, quick: 500 };
/** A scan of all texts takes seconds. */
const ILIKE_SEARCHES = 10;
/** A person may search 300 times a minute and ask 120 times an hour. */
const PERSONS = 20;
const MODULES = resolve('node_modules');

/** True when every aim was reached. */
export async function benchSearch(options: SearchOptions): Promise<boolean> {
  if (process.platform !== 'linux') throw new Error('The bench reads CPU times from /proc: run it on Linux.');
  const where = machine();
  const disturbed = disturbance();
  const wanted = (name: string) => options.only === undefined || options.only === name;
  const findings: Findings = { tables: [], verdicts: [], rounds: {} };
  const folder = await mkdtemp(join(tmpdir(), 'easel-bench-'));
  const databaseUrl = process.env.BENCH_DATABASE_URL ?? 'postgres://127.0.0.1:5432/postgres';
  const size = options.quick ? 'quick' : 'full';
  const corpus = new Corpus(MODULES);
  const cpuProfileFolder = options.cpuProfile ? resolve('bench/results') : undefined;
  try {
    if (wanted('postgres')) await onPostgres({ folder, databaseUrl, corpus, cpuProfileFolder }, options.quick ? QUICK : FULL, findings);
    if (wanted('embedded')) await embedded({ folder, corpus, quick: options.quick }, EMBEDDED_PAGES[size], findings);
    if (wanted('imports')) await imports({ folder, databaseUrl, files: IMPORTED_FILES[size], cpuProfileFolder }, findings);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  const suite = options.quick || options.only ? 'search-part' : 'search';
  await publishReport({ suite, method: [...disturbed, ...METHOD], ...findings }, { ...where, 'load average after': loadText() });
  return findings.verdicts.every((verdict) => verdict.reached);
}

const METHOD = [
  `Easel runs with its default settings, as \`node dist/main.js\`; ${pinningNote()}.`,
  'Pages are paragraphs of the documentation of npm packages, mixed, with invented words among them, about 20 KB of text each. One of ten is public, six are open to their workspace, three are private.',
  'Searches begin when the sweep that follows the start has ended, the database has written its checkpoint, and the tables and indexes of search have been read once.',
  'Calls are made one after the other by 20 people in turn, each a member of another workspace: one to three words of a page, every other time one of them misspelt, one of three times the last one only begun.',
];

interface Stage {
  readonly folder: string;
  readonly databaseUrl: string;
  readonly corpus: Corpus;
  readonly cpuProfileFolder: string | undefined;
}

async function onPostgres(stage: Stage, scale: Scale, findings: Findings): Promise<void> {
  const database = await createDatabase(stage.databaseUrl);
  const dataFolder = join(stage.folder, 'postgres');
  const start = () => startEasel({ dataFolder, databaseUrl: database.url, core: SERVER_CORE, cpuProfileFolder: stage.cpuProfileFolder });
  let easel = await start();
  try {
    await easel.stop();
    await seedWorkspaces(database.sql, scale.workspaces + 1);
    const page = (number: number) => stage.corpus.page(number);
    const chars = await seedPages(database.sql, join(dataFolder, 'objects'), {
      first: 0,
      count: scale.indexed,
      workspaces: scale.workspaces,
      page,
    });
    easel = await start();
    const done = await indexing(easel, database.sql);
    await database.sql`vacuum analyze`;
    const share = (await indexBytes(database.sql)) / chars;
    findings.tables.push({
      title: `Indexing of ${rounded(scale.indexed)} pages, Postgres`,
      columns: ['Pages/s', 'Server CPU ms each', 'Index to text'],
      rows: [[rounded(done.perS), rounded(done.serverUs / 1000), rounded(share)]],
      notes: [
        'By the service itself, beside nothing else. The index is all that search keeps: texts, words and their indexes. Of few pages the list of all words, which grows ever slower, takes a large part.',
      ],
    });
    findings.verdicts.push(atLeast('Indexing on Postgres', done.perS, 300, 'pages/s'));
    findings.rounds.indexing = { ...done, share };
    console.log(`  indexed: ${rounded(done.perS)}/s, index ${rounded(share)} × text`);
    await easel.stop();
    await copyPages(database.sql, { indexed: scale.indexed, total: scale.pages, workspaces: scale.workspaces });
    const documents = qualityPages(MODULES);
    await seedQuality(database, join(dataFolder, 'objects'), documents, scale);
    easel = await start();
    await indexing(easel, database.sql);
    await database.sql`vacuum analyze`;
    await settled(database.sql);
    // The few pages of the quality set count as index and not as text.
    const whole = (await indexBytes(database.sql)) / ((chars * scale.pages) / scale.indexed);
    findings.verdicts.push(atMost(`Index of ${rounded(scale.pages)} pages on Postgres to their text`, whole, 1.2, '×'));
    findings.rounds.whole = whole;
    console.log(`  index of all: ${rounded(whole)} × text`);
    await measured({ easel, database, stage, scale }, findings);
    await quality({ easel, sql: database.sql, documents, workspace: scale.workspaces }, findings);
  } finally {
    await easel.stop();
    await database.drop();
  }
}

/** All in one workspace, and open to its members. */
async function seedQuality(database: BenchDatabase, objectsFolder: string, documents: readonly Page[], scale: Scale): Promise<void> {
  const { sql } = database;
  const page = (number: number) => documents[number - scale.pages] as Page;
  await seedPages(sql, objectsFolder, { first: scale.pages, count: documents.length, workspaces: scale.workspaces, page });
  const home = String(scale.workspaces).padStart(24, '0');
  await sql`
    update artifact set workspace_id = ${`wsp_${home}`}, owner_id = ${`usr_${home}`}, visibility = 'workspace'
    where id >= ${`art_${String(scale.pages).padStart(24, '0')}`}`;
}

interface Measured {
  readonly easel: Server;
  readonly database: BenchDatabase;
  readonly stage: Stage;
  readonly scale: Scale;
}

async function measured({ easel, database, stage, scale }: Measured, findings: Findings): Promise<void> {
  const persons = await newPersons(easel, database.sql, PERSONS);
  const person = (at: number) => persons[at % PERSONS] as (typeof persons)[number];
  const { queries, questions } = wordsFor(stage.corpus, scale);
  const by = { server: easel, backends: () => database.backends() };
  await timed(queries.slice(0, 50), (q, at) => searched(easel, person(at), q));
  const search = await timed(queries, (q, at) => searched(easel, person(at), q), by);
  console.log(`  search: p50 ${rounded(search.p50Ms)} ms, p99 ${rounded(search.p99Ms)} ms`);
  const ask = await timed(questions, (q, at) => asked(easel, person(at), q), by);
  console.log(`  ask: p50 ${rounded(ask.p50Ms)} ms, p99 ${rounded(ask.p99Ms)} ms`);
  await seedPlain(database.sql, { indexed: scale.indexed, total: scale.pages, page: (number) => stage.corpus.page(number) });
  const plain = await timed(queries.slice(0, ILIKE_SEARCHES), (q, at) =>
    byIlike(database.sql, q, `wsp_${String(at % PERSONS).padStart(24, '0')}`, true),
  );
  console.log(`  ILIKE: p50 ${rounded(plain.p50Ms)} ms, p99 ${rounded(plain.p99Ms)} ms`);
  const pages = rounded(scale.pages);
  const few = Array.from({ length: Math.min(scale.indexed, scale.pages / 10) }, (_, at) => stage.corpus.page(at));
  const library = new Library(few);
  const inMemory = await timed(queries, async (q) => library.find(q));
  findings.tables.push({
    title: `Search over ${pages} pages in ${rounded(scale.workspaces)} workspaces, Postgres`,
    columns: ['What', 'Pages', 'p50 ms', 'p99 ms', 'max ms', 'Server CPU ms each', 'Database CPU ms each'],
    rows: [
      rowOf(`${EASEL}, GET /v1/search, all groups`, pages, search),
      rowOf(`${EASEL}, POST /v1/ask, no model`, pages, ask),
      rowOf(`${ILIKE}, artifacts alone`, pages, plain),
      rowOf(`${MINISEARCH}, in memory, nobody’s access checked`, rounded(few.length), inMemory),
    ],
    notes: [
      `${queries.length} searches, ${questions.length} questions; ${ILIKE_SEARCHES} for ILIKE, over the caller’s workspace and all public pages.`,
      `${rounded(scale.indexed)} different texts; the other pages are copies of them with other owners.`,
    ],
  });
  findings.verdicts.push(atMost(`Search over ${pages} pages on Postgres, p99`, search.p99Ms, 50, 'ms'));
  findings.verdicts.push(atMost(`Ask’s retrieval over ${pages} pages on Postgres, p99`, ask.p99Ms, 80, 'ms'));
  findings.rounds.postgres = { search, ask, plain, inMemory };
}

function wordsFor(corpus: Corpus, scale: Pick<Scale, 'indexed' | 'searches' | 'asks'>) {
  const draw = drawFrom(7);
  const query = () => corpus.query(corpus.page(draw(scale.indexed)), draw);
  return {
    queries: Array.from({ length: scale.searches }, query),
    questions: Array.from({ length: scale.asks }, () => `how does ${query()} work with ${query()}?`),
  };
}

function rowOf(name: string, pages: string, { p50Ms, p99Ms, maxMs, serverUs, databaseUs }: Timing): string[] {
  const ms = (us: number) => (us === 0 ? '' : rounded(us / 1000));
  return [name, pages, rounded(p50Ms), rounded(p99Ms), rounded(maxMs), ms(serverUs), ms(databaseUs)];
}

async function embedded({ folder, corpus, quick }: { folder: string; corpus: Corpus; quick: boolean }, pages: number, findings: Findings) {
  const dataFolder = join(folder, 'embedded');
  const start = () => startEasel({ dataFolder, databaseUrl: null, core: SERVER_CORE });
  const open = () =>
    postgres({ path: join(dataFolder, 'postgres.sock'), user: 'postgres', database: 'postgres', max: 1, onnotice: () => undefined });
  const workspaces = quick ? 20 : 100;
  let easel = await start();
  try {
    const seeding = open();
    await seedWorkspaces(seeding, workspaces);
    await seedPages(seeding, join(dataFolder, 'objects'), { first: 0, count: pages, workspaces, page: (number) => corpus.page(number) });
    await seeding.end();
    await easel.stop();
    easel = await start();
    const sql = open();
    const done = await indexing(easel, sql);
    await sql`analyze`;
    const persons = await newPersons(easel, sql, PERSONS);
    await sql.end();
    const { queries, questions } = wordsFor(corpus, { indexed: pages, searches: quick ? 60 : 300, asks: quick ? 20 : 100 });
    const person = (at: number) => persons[at % PERSONS] as (typeof persons)[number];
    const search = await timed(queries, (q, at) => searched(easel, person(at), q), { server: easel });
    const ask = await timed(questions, (q, at) => asked(easel, person(at), q), { server: easel });
    findings.tables.push({
      title: `Search over ${rounded(pages)} pages, embedded database`,
      columns: ['What', 'Pages', 'p50 ms', 'p99 ms', 'max ms', 'Server CPU ms each', 'Database CPU ms each'],
      rows: [
        rowOf(`${EASEL}, GET /v1/search, all groups`, rounded(pages), search),
        rowOf(`${EASEL}, POST /v1/ask, no model`, rounded(pages), ask),
      ],
      notes: [`The database runs in the server’s process. Indexing: ${rounded(done.perS)} pages/s.`],
    });
    findings.verdicts.push(atMost(`Search over ${rounded(pages)} pages on the embedded database, p99`, search.p99Ms, 300, 'ms'));
    findings.verdicts.push(atMost(`Ask’s retrieval over ${rounded(pages)} pages on the embedded database, p99`, ask.p99Ms, 300, 'ms'));
    findings.rounds.embedded = { search, ask, done };
  } finally {
    await easel.stop();
  }
}
