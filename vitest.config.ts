import { readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { defineConfig } from 'vitest/config';

/** Files that share one worker's modules and memory before it is replaced. */
const GROUP_FILES_MAX = 25;

/** Folders of tests, small ones together. What a worker's files leave behind (compiled modules, snapshots of what they expected) ends with it. */
function groups(): string[][] {
  const found: string[][] = [];
  let room = 0;
  for (const folder of [...foldersIn('test').filter((path) => path !== 'test/features'), ...foldersIn('test/features')]) {
    const files = readdirSync(join(import.meta.dirname, folder), { recursive: true, encoding: 'utf8' });
    const count = files.filter((name) => name.endsWith('.test.ts')).length;
    if (count > room) {
      found.push([]);
      room = GROUP_FILES_MAX;
    }
    found.at(-1)?.push(folder);
    room -= count;
  }
  return found;
}

function foldersIn(parent: string): string[] {
  const entries = readdirSync(join(import.meta.dirname, parent), { withFileTypes: true });
  return entries.flatMap((entry) => (entry.isDirectory() ? [`${parent}/${entry.name}`] : [])).sort();
}

export default defineConfig({
  test: {
    globalSetup: ['test/support/global-setup.ts'],
    // CI has two cores; more workers only make every server slower to start.
    maxWorkers: 2,
    projects: groups().map((folders) => ({
      test: {
        name: folders.map((folder) => basename(folder)).join(' '),
        include: folders.map((folder) => `${folder}/**/*.test.ts`),
        maxWorkers: 2,
        // Importing a module does nothing and keeps nothing (CONTRIBUTING.md), so files share their modules; each would load 1500 anew.
        isolate: false,
        // These only end tests that hang: a busy machine takes many times as long as an idle one.
        testTimeout: 180_000,
        hookTimeout: 180_000,
        expect: { poll: { timeout: 60_000 } },
        // A failure in CI is only known by its message, so that says the values whole.
        chaiConfig: { truncateThreshold: 2000 },
      },
    })),
  },
});
