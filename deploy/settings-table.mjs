// Writes the settings of src/platform/config.ts into the README's table: `node deploy/settings-table.mjs`; --check only reports whether the table is stale.
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const BEGIN = '<!-- settings -->';
const END = '<!-- /settings -->';
const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const readme = join(root, 'README.md');

const bundle = await build({
  absWorkingDir: root,
  entryPoints: ['src/platform/config.ts'],
  bundle: true,
  write: false,
  format: 'esm',
  platform: 'node',
});
const { settings } = await import(`data:text/javascript;base64,${Buffer.from(bundle.outputFiles[0].contents).toString('base64')}`);

const defaults = settings.parse({});
const rows = Object.entries(settings.shape).map(([name, schema]) => {
  const value = defaults[name] === undefined ? '' : `\`${defaults[name]}\``;
  return `| \`${name}\` | ${value} | ${schema.description} |`;
});
const table = ['| Setting | Default | What it does |', '| --- | --- | --- |', ...rows].join('\n');

const before = readFileSync(readme, 'utf8');
const begin = before.indexOf(BEGIN);
const end = before.indexOf(END);
if (begin < 0 || end < begin) throw new Error(`README.md has no ${BEGIN} … ${END}.`);
const after = `${before.slice(0, begin + BEGIN.length)}\n${table}\n${before.slice(end)}`;
if (!process.argv.includes('--check')) {
  writeFileSync(readme, after);
} else if (after !== before) {
  console.error('The settings table of README.md is stale: run node deploy/settings-table.mjs.');
  process.exitCode = 1;
}
