/** The types of scripts: what is served, and that code compiles against it. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { expect, onTestFinished, test } from 'vitest';
import { temporaryDir } from '../support/database.ts';
import { startTestEasel } from '../support/easel.ts';
import { services } from '../support/services.ts';

const BUILT = () => readFileSync(join(services().builtDir, 'page/easel-jobs.d.ts'), 'utf8');

/** Compiler errors of a script; `lib`: what else its author has loaded. */
function complaints(script: string, lib: readonly string[], types: string[]): string[] {
  const folder = temporaryDir();
  onTestFinished(() => folder.remove());
  writeFileSync(join(folder.path, 'easel-jobs.d.ts'), BUILT());
  const file = join(folder.path, 'script.ts');
  writeFileSync(file, `/// <reference path="easel-jobs.d.ts" />\n${script}\nexport {};\n`);
  const program = ts.createProgram([file], {
    strict: true,
    noEmit: true,
    target: ts.ScriptTarget.ES2022,
    module: ts.ModuleKind.ESNext,
    moduleResolution: ts.ModuleResolutionKind.Bundler,
    lib: lib.map((name) => `lib.${name}.d.ts`),
    types,
    typeRoots: [join(import.meta.dirname, '../../node_modules/@types')],
  });
  return ts.getPreEmitDiagnostics(program).map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, ' '));
}

const RIGHT = `
  interface Order { customer: string; total: number }
  const orders = easel.table<Order>('orders');
  const { rows } = await orders.query({ filter: { total: { $gte: params.least } }, sort: '-createdAt' });
  for (const { id, customer } of rows) await orders.update(id, { customer: customer.trim() });
  const [group] = await orders.aggregate({ groupBy: ['customer'], metrics: [{ fn: 'sum', field: 'total', as: 'total' }] });
  const count: number = await easel.json.increment('runs', 1, '$.count');
  await easel.json.patch('state', { last: null });
  const reply = await easel.fetch('https://example.com', { method: 'POST', body: { count, group } });
  const { ok } = await reply.json<{ ok: boolean }>();
  console.log(ok, reply.status);
  await new Promise<void>((resolve) => { clearTimeout(setTimeout(resolve, 5)); resolve(); });
  try { await easel.json.get('a'); } catch (error) {
    if (error instanceof easel.EaselError && error.code === 'TOO_MANY_CALLS') throw error;
  }
`;

test.each([
  ['alone', ['es2022'], []],
  ['beside those of browsers', ['es2022', 'dom'], []],
  ['beside those of Node', ['es2022'], ['node']],
])('correct scripts compile against the types %s', (_, lib, types) => {
  expect(complaints(RIGHT, lib, types)).toEqual([]);
});

test('wrong scripts do not compile', () => {
  const wrong = `
    await easel.table<{ name: string }>('entries').insert({ name: 1 });
    easel.json.watch('a', () => {});
    await easel.table('a').aggregate({ metrics: [{ fn: 'median' }] });
  `;
  expect(complaints(wrong, ['es2022'], [])).toEqual([
    expect.stringContaining("'number' is not assignable to type 'string'"),
    expect.stringContaining("'watch' does not exist"),
    expect.stringContaining('"median"'),
  ]);
});

test('the service serves them', async () => {
  const easel = await startTestEasel();
  onTestFinished(() => easel.close());
  const reply = await easel.fetch('/easel-jobs.d.ts');
  expect([reply.status, reply.headers.get('content-type'), await reply.text()]).toEqual([200, 'text/plain; charset=utf-8', BUILT()]);
});
