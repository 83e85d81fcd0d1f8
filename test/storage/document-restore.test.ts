import { describe, expect, it } from 'vitest';
import * as Y from 'yjs';
import { mergeState, restoringUpdate } from '../../src/storage/document-merge.ts';
import { Random } from '../support/random.ts';

/** The visible content of every kind of shared type. */
function shown(doc: Y.Doc): unknown {
  return [doc.getText('text').toDelta(), doc.getMap('map').toJSON(), doc.getArray('list').toJSON(), doc.getXmlFragment('xml').toString()];
}

function copyOf(state: Uint8Array): Y.Doc {
  const doc = new Y.Doc();
  Y.applyUpdate(doc, state);
  return doc;
}

const EDITS: ((doc: Y.Doc, random: Random) => void)[] = [
  (doc, random) => doc.getText('text').insert(random.integer(doc.getText('text').length + 1), `<${random.integer(1000)}>`),
  (doc, random) => {
    const text = doc.getText('text');
    const at = random.integer(text.length + 1);
    text.delete(at, Math.min(3, text.length - at));
  },
  (doc, random) => {
    const text = doc.getText('text');
    const at = random.integer(text.length + 1);
    text.format(at, Math.min(4, text.length - at), { bold: random.chance(0.5) ? true : null });
  },
  (doc, random) => doc.getMap('map').set(random.pick(['a', 'b', 'c']), random.integer(1000)),
  (doc, random) => doc.getMap('map').delete(random.pick(['a', 'b', 'c'])),
  (doc, random) => doc.getMap('map').set(random.pick(['b', 'd']), new Y.Map([['deep', random.integer(10)]])),
  (doc, random) => doc.getArray('list').insert(random.integer(doc.getArray('list').length + 1), [random.integer(1000), 'x']),
  (doc, random) => {
    const list = doc.getArray('list');
    const at = random.integer(list.length + 1);
    list.delete(at, Math.min(2, list.length - at));
  },
  (doc, random) => {
    const element = new Y.XmlElement('p');
    element.insert(0, [new Y.XmlText(`${random.integer(1000)}`)]);
    doc.getXmlFragment('xml').insert(random.integer(doc.getXmlFragment('xml').length + 1), [element]);
  },
  (doc, random) => {
    const xml = doc.getXmlFragment('xml');
    if (xml.length > 0) xml.delete(random.integer(xml.length), 1);
  },
];

describe('restoring an earlier state', () => {
  it('gives the earlier content in every kind of type, for 200 seeds', () => {
    for (let seed = 1; seed <= 200; seed += 1) {
      const random = new Random(seed);
      const doc = new Y.Doc();
      doc.clientID = seed;
      for (let edit = 0; edit < 30; edit += 1) random.pick(EDITS)(doc, random);
      const target = mergeState(Y.encodeStateAsUpdate(doc), new Uint8Array());
      for (let edit = 0; edit < 30; edit += 1) random.pick(EDITS)(doc, random);
      const wanted = shown(copyOf(target));
      Y.applyUpdate(doc, restoringUpdate(Y.encodeStateAsUpdate(doc), target));
      expect(shown(doc), `seed ${seed}`).toEqual(wanted);
    }
  });

  it('merges with concurrent edits, and produces no update where nothing changed', () => {
    const doc = new Y.Doc();
    doc.getText('text').insert(0, 'first');
    const target = Y.encodeStateAsUpdate(doc);
    doc.getText('text').delete(0, 5);
    doc.getText('text').insert(0, 'second');
    const peer = copyOf(Y.encodeStateAsUpdate(doc));
    const update = restoringUpdate(Y.encodeStateAsUpdate(doc), target);
    peer.getText('text').insert(6, '!');
    for (const each of [doc, peer]) Y.applyUpdate(each, update);
    Y.applyUpdate(doc, Y.encodeStateAsUpdate(peer));
    expect(doc.getText('text').toString()).toBe(peer.getText('text').toString());
    expect([...doc.getText('text').toString()].sort()).toEqual([...'first!'].sort());
    expect(restoringUpdate(target, target)).toEqual(new Uint8Array([0, 0]));
  });
});
