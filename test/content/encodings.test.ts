/** Compressed forms are made in the background while the process runs. */
import { createHash } from 'node:crypto';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { type EncodedForms, Encodings } from '../../src/content/encodings.ts';
import { HotFiles } from '../../src/content/hot-files.ts';
import type { ObjectStore } from '../../src/storage/objects.ts';
import type { Sql } from '../../src/storage/sql.ts';
import { SILENT } from '../support/database.ts';
import { VirtualClock } from '../support/virtual-clock.ts';

const TEXT = Buffer.from('living back ends '.repeat(200));

function stage() {
  // Files that are not stored need neither.
  const unused = new Proxy({}, { get: (_, name) => expect.unreachable(`${String(name)} was asked for`) });
  const hot = new HotFiles(unused as ObjectStore);
  const sql = unused as unknown as Sql;
  return { hot, encodings: new Encodings({ sql, objects: unused as ObjectStore, hot, clock: new VirtualClock(), log: SILENT }) };
}

function source(text: Buffer) {
  return { sha256: createHash('sha256').update(text).digest('hex'), stored: false };
}

const unmade = (): EncodedForms => ({ br: undefined, gzip: undefined });

test('goes on after a content that is not in memory any more, for which there is nothing to wait', async () => {
  const { hot, encodings } = stage();
  encodings.want(source(Buffer.from('gone')), unmade());
  await encodings.idle();
  const wanted = source(TEXT);
  hot.keep(wanted.sha256, TEXT);
  const forms = unmade();
  encodings.want(wanted, forms);
  await encodings.idle();
  expect(brotliDecompressSync(hot.peek(forms.br ?? '') ?? '')).toEqual(TEXT);
  expect(gunzipSync(hot.peek(forms.gzip ?? '') ?? '')).toEqual(TEXT);
  await encodings.close();
});

test('makes what is wanted while another is made, and nothing once it is closed', async () => {
  const { hot, encodings } = stage();
  const [one, other] = [TEXT, Buffer.from('more '.repeat(500))].map((text) => {
    hot.keep(source(text).sha256, text);
    return { text, forms: unmade() };
  });
  if (one === undefined || other === undefined) throw new Error('both are there');
  encodings.want(source(one.text), one.forms);
  encodings.want(source(other.text), other.forms);
  await encodings.idle();
  expect([one.forms.br, one.forms.gzip, other.forms.br, other.forms.gzip]).not.toContain(undefined);
  await encodings.close();
  const late = unmade();
  encodings.want(source(one.text), late);
  await encodings.idle();
  expect(late).toEqual(unmade());
});
