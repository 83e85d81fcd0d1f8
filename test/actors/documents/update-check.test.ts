/** Accepted updates must never make Yjs throw, because a half-applied update destroys the document. SEEDS=n tries more seeds. */
import { createEncoder, toUint8Array, writeAny, writeUint8, writeVarString, writeVarUint } from 'lib0/encoding';
import { describe, expect, it } from 'vitest';
import * as Y from 'yjs';
import { checkUpdate } from '../../../actors/documents/update-check.ts';
import { Random } from '../../support/random.ts';

const SEEDS = Number(process.env.SEEDS ?? 300);

type Edit = (doc: Y.Doc, random: Random) => void;

/** Every kind of content that clients create. */
const EDITS: readonly Edit[] = [
  (doc, random) => doc.getText('text').insert(0, random.pick(['a', 'grüße', '🎨', 'some more words'])),
  (doc, random) => doc.getText('text').insert(doc.getText('text').length, random.pick(['z', 'ß'])),
  (doc, random) => doc.getText('text').delete(0, Math.min(doc.getText('text').length, random.integer(5))),
  (doc) => doc.getText('text').format(0, Math.min(doc.getText('text').length, 3), { bold: true, size: { px: 12 } }),
  (doc) => doc.getText('text').insertEmbed(0, { image: 'x.png' }),
  (doc) => doc.getArray('list').insert(0, [1, -70.5, null, 'x', [true, undefined, { deep: [2n ** 40n] }]]),
  (doc) => doc.getArray('list').insert(0, [new Uint8Array([1, 2, 3]), new Y.Map([['k', new Y.Array()]]), new Y.Text('inner')]),
  (doc) => doc.getArray('list').delete(0, Math.min(doc.getArray('list').length, 2)),
  (doc, random) => doc.getMap('map').set(random.pick(['a', 'b']), random.integer(1000)),
  (doc) => doc.getMap('map').set('doc', new Y.Doc({ meta: { title: 'sub' } })),
  (doc) => doc.getXmlFragment('xml').insert(0, [new Y.XmlElement('p'), new Y.XmlText('t')]),
  (doc) => doc.getMap('map').set('hook', new Y.XmlHook('h')),
];

/** Updates of three clients that synchronise from time to time. */
function updatesOf(random: Random): Uint8Array[] {
  const docs = [1, 2, 3].map((client) => {
    const doc = new Y.Doc();
    doc.clientID = client;
    return doc;
  });
  const updates: Uint8Array[] = [];
  for (const doc of docs) doc.on('update', (update: Uint8Array, origin) => origin === null && updates.push(update));
  for (let step = 0; step < 25; step += 1) {
    const doc = random.pick(docs);
    if (random.chance(0.3)) Y.applyUpdate(doc, Y.encodeStateAsUpdate(random.pick(docs), Y.encodeStateVector(doc)), 'sync');
    else doc.transact(() => random.pick(EDITS)(doc, random), null);
  }
  return [...updates, Y.encodeStateAsUpdate(docs[0] as Y.Doc), Y.mergeUpdates(updates.slice(0, 9))];
}

function docOf(updates: readonly Uint8Array[]): Y.Doc {
  const doc = new Y.Doc();
  for (const update of updates) Y.applyUpdate(doc, update);
  return doc;
}

function damaged(update: Uint8Array, random: Random): Uint8Array {
  const bytes = [...update];
  for (let times = 1 + random.integer(3); times > 0; times -= 1) {
    const at = random.integer(bytes.length);
    const dice = random.integer(5);
    if (dice === 0) bytes[at] = random.integer(256);
    else if (dice === 1) bytes[at] = (bytes[at] ?? 0) ^ (1 << random.integer(8));
    else if (dice === 2) bytes.splice(at, 1 + random.integer(4));
    else if (dice === 3) bytes.splice(at, 0, random.integer(256));
    else bytes[at] = random.pick([0, 1, 2, 127, 128, 255]);
  }
  return new Uint8Array(bytes);
}

function writeBytes(encoder: ReturnType<typeof createEncoder>, ...bytes: number[]): void {
  for (const byte of bytes) writeUint8(encoder, byte);
}

/** An update of one client and one struct, which `content` writes. */
function crafted(content: (encoder: ReturnType<typeof createEncoder>) => void, structs = 1): Uint8Array {
  const encoder = createEncoder();
  for (const number of [1, structs, 9, 0]) writeVarUint(encoder, number);
  content(encoder);
  writeVarUint(encoder, 0);
  return toUint8Array(encoder);
}

function item(kind: number, write: (encoder: ReturnType<typeof createEncoder>) => void): Uint8Array {
  return crafted((encoder) => {
    writeUint8(encoder, kind);
    writeVarUint(encoder, 1);
    writeVarString(encoder, 't');
    write(encoder);
  });
}

describe('an update from outside', () => {
  it(`[every update of a client] is accepted, and counted, for ${SEEDS} seeds`, () => {
    for (let seed = 1; seed <= SEEDS; seed += 1) {
      for (const update of updatesOf(new Random(seed))) {
        const shape = checkUpdate(update);
        const { structs, ds } = Y.decodeUpdate(update);
        expect(shape, `seed ${seed}`).toMatchObject({
          structs: structs.length,
          deletes: [...ds.clients.values()].reduce((sum, ranges) => sum + ranges.length, 0),
        });
      }
    }
  });

  it(`[damaged updates] are refused, or Yjs applies them and can encode the result, for ${SEEDS} seeds`, () => {
    let refused = 0;
    let applied = 0;
    let thrown = 0;
    for (let seed = 1; seed <= SEEDS; seed += 1) {
      const random = new Random(seed);
      const updates = updatesOf(random);
      const known = updates.slice(0, random.integer(updates.length));
      let doc = docOf(known);
      for (let times = 0; times < 60; times += 1) {
        const update = damaged(random.pick(updates), random);
        if (checkUpdate(update) === undefined) {
          refused += 1;
          continue;
        }
        applied += 1;
        try {
          Y.applyUpdate(doc, update);
        } catch {
          // A contradiction (other content under known ids) shows only while applying; then the live document is reloaded.
          thrown += 1;
          doc = docOf(known);
        }
        const state = Y.encodeStateAsUpdate(doc);
        if (times % 20 === 0) Y.applyUpdate(new Y.Doc(), state);
      }
    }
    expect(refused).toBeGreaterThan(SEEDS);
    expect(applied).toBeGreaterThan(SEEDS);
    expect(thrown).toBeLessThan(applied / 1000);
  });

  it('[noise] is refused or harmless', () => {
    const random = new Random(5);
    for (let times = 0; times < 20_000; times += 1) {
      const noise = new Uint8Array(Array.from({ length: random.integer(24) }, () => random.integer(random.chance(0.5) ? 12 : 256)));
      if (checkUpdate(noise) !== undefined) Y.applyUpdate(new Y.Doc(), noise);
    }
  });

  it.each<[string, Uint8Array]>([
    ['nothing at all', new Uint8Array()],
    ['bytes after its end', new Uint8Array([0, 0, 0])],
    ['a number that does not end', new Uint8Array(40).fill(255)],
    ['a list of 300 million structs', crafted(() => undefined, 300_000_000)],
    ['a struct of no length', crafted((encoder) => writeBytes(encoder, 0, 0))],
    ['an empty text', item(4, (encoder) => writeVarString(encoder, ''))],
    [
      'text that is not UTF-8',
      item(4, (encoder) => {
        writeVarUint(encoder, 1);
        writeUint8(encoder, 0xff);
      }),
    ],
    ['invalid JSON', item(5, (encoder) => writeVarString(encoder, '{'))],
    ['JSON nested too deep to be encoded again', item(5, (encoder) => writeVarString(encoder, '['.repeat(9000) + ']'.repeat(9000)))],
    [
      'a value nested too deep',
      item(8, (encoder) => {
        writeVarUint(encoder, 1);
        for (let depth = 0; depth < 9000; depth += 1) writeBytes(encoder, 117, 1);
        writeAny(encoder, null);
      }),
    ],
    ['a type that is unknown', item(7, (encoder) => writeVarUint(encoder, 7))],
    [
      'a subdocument whose options are not an object',
      item(9, (encoder) => {
        writeVarString(encoder, 'id');
        writeAny(encoder, null);
      }),
    ],
    [
      'a struct that stands right of itself',
      crafted((encoder) => {
        writeBytes(encoder, 0x84, 9, 0);
        writeVarString(encoder, 'x');
      }),
    ],
  ])('[refused] %s', (_, update) => {
    expect(checkUpdate(update)).toBeUndefined();
  });
});
