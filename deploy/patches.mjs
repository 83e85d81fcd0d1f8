// Applies deploy/patches to the installed packages, where that has not happened yet. Each patch says why in CONTRIBUTING.md, "Patches".
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export function applyPatches(root) {
  const folder = join(root, 'deploy/patches');
  const isApplied = (name) => addedLines(readFileSync(join(folder, name), 'utf8')).every(({ file, line }) => linesOf(root, file).has(line));
  if (readdirSync(folder).every(isApplied)) return;
  const program = join(root, 'node_modules/patch-package/index.js');
  execFileSync(process.execPath, [program, '--patch-dir', 'deploy/patches', '--error-on-fail'], { cwd: root, stdio: 'inherit' });
}

function addedLines(patch) {
  let file = '';
  return patch.split('\n').flatMap((line) => {
    if (line.startsWith('+++ b/')) file = line.slice('+++ b/'.length);
    return line.startsWith('+') && !line.startsWith('+++') ? [{ file, line: line.slice(1) }] : [];
  });
}

const known = new Map();

function linesOf(root, file) {
  if (!known.has(file)) known.set(file, new Set(readFileSync(join(root, file), 'utf8').split('\n')));
  return known.get(file);
}
