/** 300 queries over the documentation of npm packages, as people type them: the right page is among the first five for at least 95 %. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { QUALITY_SET } from '../../../../bench/search/quality-set.ts';
import { startTestEasel, type TestEasel, type TestUser } from '../../../support/easel.ts';
import { published } from '../../../support/requests.ts';
import { indexed, titles } from './search-stage.ts';

const MODULES = join(import.meta.dirname, '../../../../node_modules');
const NAMES = ['README.md', 'readme.md', 'Readme.md'];

let easel: TestEasel;
let owner: TestUser;
beforeAll(async () => {
  easel = await startTestEasel();
  owner = await easel.newUser('team');
  for (const { name } of QUALITY_SET) {
    // Publishes are limited by the hour.
    easel.clock.advance(3600_000);
    const file = NAMES.map((each) => join(MODULES, name, each)).find(existsSync);
    if (file === undefined) throw new Error(`${name} has no documentation`);
    await published(easel, owner, { name, entrypoint: 'readme.md', files: [{ path: 'readme.md', content: readFileSync(file, 'utf8') }] });
  }
  await indexed(easel);
});
afterAll(() => easel.close());

test('the right page is among the first five for 95 of 100', async () => {
  const typed = QUALITY_SET.flatMap(({ name, queries }) => queries.map((text) => ({ name, text })));
  expect(typed.length).toBeGreaterThanOrEqual(300);
  const missed: string[] = [];
  for (const { name, text } of typed) {
    // Searches are limited by the minute.
    easel.clock.advance(1000);
    const best = await titles(easel, owner, text, 'artifacts', '&limit=5');
    if (!best.includes(name)) missed.push(`${text} (${name}): ${best.join(', ')}`);
  }
  expect(missed.length, missed.join('\n')).toBeLessThanOrEqual(typed.length * 0.05);
});
