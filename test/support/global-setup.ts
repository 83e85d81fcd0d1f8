/** Builds the program once for all suites and finds out which services this machine has. */
import { execFileSync } from 'node:child_process';
import { accessSync, constants, existsSync, readdirSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import postgres from 'postgres';
import type { TestProject } from 'vitest/node';
import { makeTemplate, templateName } from './schema-template.ts';
import type { Services } from './services.ts';

const ROOT = join(import.meta.dirname, '../..');
const CACHE = join(ROOT, 'node_modules/.cache/easel');
const DEFAULT_CHROMIUM = '/usr/bin/chromium';
/** The value of CHROMIUM_PATH for a run without browser tests. */
const NO_CHROMIUM = 'none';

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  removeLeftovers();
  const builtDir = join(CACHE, `test-${process.pid}`);
  const entries = [
    ...['main', 'data', 'cli', 'pglite-worker', 'document-worker', 'script-worker', 'picture-process', 'convert-worker', 'mail-worker'],
    'data-dir-probe',
  ];
  execFileSync(process.execPath, [join(ROOT, 'deploy/build.mjs'), builtDir, ...entries], { stdio: 'inherit' });
  const found: Services = {
    postgresUrl: await reachablePostgres(process.env.TEST_DATABASE_URL ?? 'postgres://root@127.0.0.1:5432/postgres'),
    redisUrl: await reachable(process.env.TEST_REDIS_URL ?? 'redis://127.0.0.1:6379'),
    databases: databasesOf(process.env.TEST_DATABASES ?? 'server'),
    postgresTemplate: templateName(process.pid),
    chromiumPath: executable(process.env.CHROMIUM_PATH ?? DEFAULT_CHROMIUM),
    builtDir,
  };
  reportMissing(found);
  const dropTemplate = await makeTemplate(found, isAlive);
  project.provide('services', found);
  return async () => {
    rmSync(builtDir, { recursive: true, force: true });
    await dropTemplate();
  };
}

/** Removes the builds of test runs that were killed. */
function removeLeftovers(): void {
  if (!existsSync(CACHE)) return;
  for (const name of readdirSync(CACHE)) {
    const pid = /^test-(\d+)/.exec(name)?.[1];
    if (pid !== undefined && !isAlive(Number(pid))) rmSync(join(CACHE, name), { recursive: true, force: true });
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

function reportMissing(found: Services): void {
  const missing = [
    found.postgresUrl === null ? 'PostgreSQL (TEST_DATABASE_URL)' : '',
    found.redisUrl === null ? 'Redis (TEST_REDIS_URL)' : '',
    found.chromiumPath === null && process.env.CHROMIUM_PATH !== NO_CHROMIUM ? 'Chromium (CHROMIUM_PATH)' : '',
  ].filter((name) => name !== '');
  if (missing.length === 0) return;
  const message = `Not found: ${missing.join(', ')}. The suites that need it are skipped.`;
  if (process.env.CI === 'true') throw new Error(`${message} In CI that is a failure.`);
  console.warn(`\n${message}\n`);
}

function databasesOf(word: string): Services['databases'] {
  if (word === 'server' || word === 'embedded' || word === 'both') return word;
  throw new Error(`TEST_DATABASES is "${word}"; it can be server, embedded or both.`);
}

async function reachablePostgres(url: string): Promise<string | null> {
  const sql = postgres(url, { max: 1, connect_timeout: 2, onnotice: () => undefined });
  try {
    await sql`select 1`;
    return url;
  } catch {
    return null;
  } finally {
    await sql.end();
  }
}

function reachable(url: string): Promise<string | null> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve) => {
    const socket = connect(Number(port || 6379), hostname);
    const answer = (value: string | null) => {
      socket.destroy();
      resolve(value);
    };
    socket.once('connect', () => answer(url));
    socket.once('error', () => answer(null));
    socket.setTimeout(2_000, () => answer(null));
  });
}

function executable(path: string): string | null {
  try {
    accessSync(path, constants.X_OK);
    return path;
  } catch {
    return null;
  }
}
