// The build: bundles our own TypeScript and leaves packages external. `npm start` and `npm test` run it first.
// node deploy/build.mjs [folder, default dist] [entries, default all]
import { chmodSync, cpSync, existsSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { buildExamples } from './examples.mjs';
import { buildOpenapi } from './openapi.mjs';
import { buildPageSdk } from './page-sdk.mjs';
import { applyPatches } from './patches.mjs';
import { postgresTemplate } from './postgres-template.mjs';
import { buildScriptSdk } from './script-sdk.mjs';
import { buildWebApp } from './web-app.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const dist = resolve(root, process.argv[2] ?? 'dist');
const wanted = process.argv.slice(3);
const entries = {
  main: 'src/app/main.ts',
  data: 'src/app/data.ts',
  cli: 'src/clients/cli/main.ts',
  'pglite-worker': 'src/storage/pglite-worker.ts',
  'document-worker': 'src/storage/document-worker.ts',
  'script-worker': 'src/features/automation/scripts/script-worker.ts',
  'picture-process': 'src/features/library/assets/thumbnails/picture-process.ts',
  'convert-worker': 'src/features/library/imports/convert/convert-worker.ts',
  'mail-worker': 'src/features/business/support/inbound/mail-worker.ts',
  'data-dir-probe': 'src/storage/data-dir-probe.ts',
  bench: 'bench/main.ts',
};

/** Throws if two migrations have the same number or one has a wrong name, with the same check as the program. */
async function checkMigrations(directory) {
  const rule = await build({ absWorkingDir: root, entryPoints: ['src/storage/migrations.ts'], format: 'esm', write: false });
  const { migrationFiles } = await import(`data:text/javascript;base64,${Buffer.from(rule.outputFiles[0].contents).toString('base64')}`);
  migrationFiles(readdirSync(directory));
}

applyPatches(root);
const migrations = join(root, 'src/storage/migrations');
await checkMigrations(migrations);
// Built in another folder and then renamed, so that a failed build keeps the last good one.
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
await buildScriptSdk(root, making);
await buildOpenapi(root, making);
await buildWebApp(root, making);
await buildExamples(root, making);
cpSync(migrations, join(making, 'migrations'), { recursive: true });
cpSync(await postgresTemplate(root, making), join(making, 'postgres-template'), { recursive: true });
if (existsSync(join(making, 'cli.js'))) chmodSync(join(making, 'cli.js'), 0o755);
rmSync(dist, { recursive: true, force: true });
renameSync(making, dist);
