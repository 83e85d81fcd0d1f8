/** `easel datasets` against the real service. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { startTestEasel, type TestEasel } from '../support/easel.ts';
import { type CommandLine, commandLine } from './command-line.ts';

// Every step starts a process, which is slow on a busy machine.
vi.setConfig({ testTimeout: 120_000 });

let service: TestEasel;
let easel: CommandLine;
beforeAll(async () => {
  service = await startTestEasel();
  easel = await commandLine(service.baseUrl);
  const { token } = await service.newUser('pro');
  await easel.json(['login', '--token', token]);
  await easel.write({ 'index.html': '<title>rows</title>' });
  await easel.json(['publish', '--slug', 'rows-site']);
});
afterAll(async () => {
  await easel.close();
  await service.close();
});

it('stores, lists, prints, saves and deletes datasets', async () => {
  const here = (name: string) => join(easel.home, name);
  expect((await easel.run(['datasets', 'list'])).out).toBe('No datasets.\n');
  await writeFile(here('sales.csv'), 'region,sum\r\nnorth,10\r\nsouth,250\r\n');
  expect((await easel.run(['datasets', 'put', 'sales', 'sales.csv'])).out).toBe('Stored version 1 of sales: 2 rows in 2 columns.\n');
  expect((await easel.run(['datasets', 'put', 'sales', 'sales.csv'])).out).toBe('Version 1 of sales has the same rows.\n');
  await writeFile(here('more.jsonl'), '{"region":"north","sum":10}\n{"region":"south","sum":250}\n{"region":"west","sum":300}\n');
  expect(await easel.json(['datasets', 'put', 'sales', 'more.jsonl'])).toMatchObject({ version: 2, rows: 3, created: true, etag: '"2"' });
  expect((await easel.run(['datasets', 'put', 'sales', 'sales.csv', '--create'])).code).not.toBe(0);
  expect((await easel.run(['datasets', 'list', '-a', 'rows-site'])).out).toMatch(
    /^NAME +VERSION +ROWS +SIZE +STORED\nsales +2 +3 +.* B +.*\n$/,
  );
  expect((await easel.run(['datasets', 'get', 'sales'])).out).toMatch(
    /^COLUMN +TYPE\nregion +string\nsum +number\n\nVERSION .*\n2 +3 .*\n1 +2 .*\n$/,
  );
  const filter = '{"sum":{"$gte":100}}';
  expect((await easel.run(['datasets', 'rows', 'sales', '--filter', filter, '--fields', 'region'])).out).toBe(
    '{"region":"south"}\n{"region":"west"}\n',
  );
  expect((await easel.run(['datasets', 'get', 'sales', '--at', '1', '--format', 'csv'])).out).toBe('region,sum\r\nnorth,10\r\nsouth,250\n');
  await easel.json(['datasets', 'get', 'sales', '-o', 'saved.json']);
  expect(JSON.parse(await readFile(here('saved.json'), 'utf8'))).toHaveLength(3);
  expect((await easel.run(['datasets', 'delete', 'sales'])).code).toBe(2);
  expect((await easel.run(['datasets', 'delete', 'sales', '--yes'])).out).toBe('Deleted sales.\n');
  expect((await easel.run(['datasets', 'get', 'sales'])).code).toBe(4);
  await writeFile(here('rows.txt'), 'a\n1\n');
  expect((await easel.run(['datasets', 'put', 'sales', 'rows.txt'])).code).toBe(2);
});
