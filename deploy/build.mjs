// One quick build: bundles our own TypeScript, leaves packages outside. `npm start` and `npm test` run it by themselves.
// node deploy/build.mjs [folder, default dist] [entries, default all]
import { chmodSync, cpSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { PGlite } from '@electric-sql/pglite';
import { build } from 'esbuild';
import { buildExamples } from './examples.mjs';
import { buildPageSdk } from './page-sdk.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const dist = resolve(root, process.argv[2] ?? 'dist');
const wanted = process.argv.slice(3);
const entries = {
  main: 'src/main.ts',
  cli: 'src/clients/cli/main.ts',
  'pglite-worker': 'src/storage/pglite-worker.ts',
  'document-worker': 'src/storage/document-worker.ts',
  bench: 'bench/main.ts',
};

/** An initialised database, made once for each version of PGlite: a first start copies it instead of taking 3 s to make its own. */
async function postgresTemplate() {
  const { version } = JSON.parse(readFileSync(join(root, 'node_modules/@electric-sql/pglite/package.json'), 'utf8'));
  const cache = join(root, 'node_modules/.cache/easel');
  const template = join(cache, `postgres-template-${version}`);
  if (existsSync(template)) return template;
  const making = `${template}.${process.pid}`;
  mkdirSync(cache, { recursive: true });
  const db = await PGlite.create(making);
  await db.close();
  try {
    renameSync(making, template);
  } catch (error) {
    // Another build was quicker.
    if (!existsSync(template)) throw error;
    rmSync(making, { recursive: true });
  }
  return template;
}

// Built aside and then put in place, so that a failed build leaves the last good one.
const making = `${dist}.${process.pid}`;
await build({
  absWorkingDir: root,
  entryPoints: Object.fromEntries(Object.entries(entries).filter(([name]) => wanted.length === 0 || wanted.includes(name))),
  outdir: making,
  bundle: true,
  packages: 'external',
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node20',
  sourcemap: true,
  sourcesContent: false,
  logLevel: 'warning',
});
await buildPageSdk(root, making);
await buildExamples(root, making);
cpSync(join(root, 'src/storage/migrations'), join(making, 'migrations'), { recursive: true });
cpSync(await postgresTemplate(), join(making, 'postgres-template'), { recursive: true });
if (existsSync(join(making, 'cli.js'))) chmodSync(join(making, 'cli.js'), 0o755);
rmSync(dist, { recursive: true, force: true });
renameSync(making, dist);
