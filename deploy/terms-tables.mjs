// Writes what each plan allows, the limits of calls and retention into README.md: `node deploy/terms-tables.mjs`; --check only reports whether they are stale.
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const BEGIN = '<!-- terms -->';
const END = '<!-- /terms -->';
const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const readme = join(root, 'README.md');

const bundle = await build({
  absWorkingDir: root,
  entryPoints: ['src/features/business/terms/tables.ts'],
  bundle: true,
  write: false,
  format: 'esm',
  platform: 'node',
});
const { termsMarkdown } = await import(`data:text/javascript;base64,${Buffer.from(bundle.outputFiles[0].contents).toString('base64')}`);

const before = readFileSync(readme, 'utf8');
const begin = before.indexOf(BEGIN);
const end = before.indexOf(END);
if (begin < 0 || end < begin) throw new Error(`README.md has no ${BEGIN} … ${END}.`);
const after = `${before.slice(0, begin + BEGIN.length)}\n${termsMarkdown()}\n${before.slice(end)}`;
if (!process.argv.includes('--check')) {
  writeFileSync(readme, after);
} else if (after !== before) {
  console.error('The tables of plans, limits and retention in README.md are stale: run node deploy/terms-tables.mjs.');
  process.exitCode = 1;
}
