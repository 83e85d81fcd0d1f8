// One quick build: bundles our own TypeScript, leaves packages outside. `npm start` and `npm test` run it by themselves.
import { chmodSync, cpSync, existsSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const dist = join(root, 'dist');
const entries = {
  main: 'src/main.ts',
  cli: 'src/clients/cli/main.ts',
  'pglite-worker': 'src/storage/pglite-worker.ts',
  bench: 'bench/main.ts',
};
rmSync(dist, { recursive: true, force: true });
await build({
  absWorkingDir: root,
  entryPoints: Object.fromEntries(Object.entries(entries).filter(([, file]) => existsSync(join(root, file)))),
  outdir: 'dist',
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
cpSync(join(root, 'src/storage/migrations'), join(dist, 'migrations'), { recursive: true });
if (existsSync(join(dist, 'cli.js'))) chmodSync(join(dist, 'cli.js'), 0o755);
