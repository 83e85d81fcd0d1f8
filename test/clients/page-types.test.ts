/** The types of the page SDK: they follow the endpoint table, and page code compiles against them. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { expect, onTestFinished, test } from 'vitest';
import { temporaryDir } from '../support/database.ts';
import { services } from '../support/services.ts';
import { wireTypes } from './wire-types.ts';

test('wire.ts matches the endpoint table', async () => {
  await expect(wireTypes()).toMatchFileSnapshot('../../src/clients/page/wire.ts');
});

/** Compiler errors of a page's script with the served sdk.d.ts. */
function complaints(script: string): string[] {
  const folder = temporaryDir();
  onTestFinished(() => folder.remove());
  mkdirSync(join(folder.path, 'easel'));
  writeFileSync(join(folder.path, 'easel/sdk.d.ts'), readFileSync(join(services().builtDir, 'page/sdk.d.ts')));
  const file = join(folder.path, 'page.ts');
  writeFileSync(file, `import type {} from './easel/sdk.js';\n${script}\nexport {};\n`);
  const program = ts.createProgram([file], {
    strict: true,
    noEmit: true,
    target: ts.ScriptTarget.ES2022,
    module: ts.ModuleKind.ESNext,
    moduleResolution: ts.ModuleResolutionKind.Bundler,
    lib: ['lib.es2022.d.ts', 'lib.dom.d.ts'],
    types: [],
  });
  return ts.getPreEmitDiagnostics(program).map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, ' '));
}

test('correct page code compiles, and wrong code does not', () => {
  const right = complaints(`
    interface Entry { name: string; text: string }
    const entries = easel.table<Entry>('entries');
    const row = await entries.insert({ name: 'Ada', text: 'hello' });
    const id: string = row.id;
    const name: string = row.name;
    const { rows, total } = await entries.query({ filter: { name: { $eq: 'Ada' } }, sort: '-createdAt', count: true });
    const stop = easel.json.watch<number>('votes', (value, { deleted }) => { const votes: number | undefined = deleted ? 0 : value; });
    const votes: number = await easel.json.increment('votes');
    const blob = await easel.blobs.upload(new Blob(['x'], { type: 'text/plain' }), { onProgress: ({ sentBytes }) => sentBytes + 1 });
    const address: string = easel.blobs.url(blob);
    try { await easel.json.set('a', 1, { ifMatch: '2026' }); } catch (error) {
      if (error instanceof easel.EaselError && error.code === 'VERSION_CONFLICT') stop();
    }
    const notified: string = (await easel.notifyOwner({ text: 'Hello', replyTo: 'ada@example.com' })).messageId;
    const notes = await easel.doc('notes');
    notes.doc.getText('text');
    notes.on('unsaved', (hasUnsaved: boolean) => { document.title = hasUnsaved ? 'saving' : 'saved'; });
    notes.awareness.setLocalStateField('cursor', 1);
    class OwnDoc { clientID = 1; getMap() { return {}; } getArray() { return {}; } getText() { return { insert(at: number, text: string) {} }; }
      transact(run: () => void) {} on() {} destroy() {} }
    const own = await easel.doc('own', { Y: { Doc: OwnDoc, Map: Object, Array: Object, Text: Object } });
    own.doc.getText().insert(0, 'x');
    const sales = easel.dataset<{ region: string; sum: number }>('sales');
    const sums: number[] = (await sales.rows({ filter: { region: 'north' }, fields: ['sum'] })).rows.map(({ sum }) => sum);
    sales.onChange((info) => { const version: number | undefined = info?.version; });
    easel.channel().subscribe('broadcast', ({ kind, data, from }) => { const sender: string | undefined = from?.name; });
    easel.presence.on('change', (people) => { const names: string[] = people.map(({ name, isMe }) => (isMe ? 'me' : name)); });
    const weather: Response = await easel.proxy(new URL('https://api.example.com/'), { signal: AbortSignal.timeout(1000) });
    const comment = await easel.comments.create({ content: 'hello', quote: { exact: 'text' } });
    const likes: number | undefined = comment.reactions['👍']?.count;
    easel.comments.watch((change) => { if (change.type === 'put') change.comment.content.trim(); });
  `);
  expect(right).toEqual([]);
  const wrong = complaints(`
    await easel.table<{ name: string }>('entries').insert({ name: 1 });
    try { await easel.json.get('a'); } catch (error) { if (error instanceof easel.EaselError && error.code === 'NO_SUCH_CODE') throw error; }
  `);
  expect(wrong).toEqual([expect.stringContaining("'number' is not assignable to type 'string'"), expect.stringContaining('NO_SUCH_CODE')]);
});
