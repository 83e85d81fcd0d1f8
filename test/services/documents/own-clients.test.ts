/** Under which client ids the service writes documents itself. */
import { describe, expect, it } from 'vitest';
import * as Y from 'yjs';
import { newId } from '../../../protocol/ids.ts';
import { OwnClients } from '../../../src/services/documents/own-clients.ts';

const id = newId('artifact');

/** Writes one text into a document as it came from the store; its new state, and under which id that was. */
function write(clients: OwnClients, stored: Uint8Array | undefined, text: string) {
  const doc = new Y.Doc();
  if (stored !== undefined) Y.applyUpdate(doc, stored);
  const before = Y.decodeStateVector(Y.encodeStateVector(doc));
  doc.transact(() => clients.writing(id, 'notes', doc, () => doc.getText('t').insert(0, text)));
  const [client] = [...Y.decodeStateVector(Y.encodeStateVector(doc))].find(([each, clock]) => (before.get(each) ?? 0) < clock) ?? [];
  return { client, doc, state: Y.encodeStateAsUpdate(doc) };
}

describe('own client ids', () => {
  it('uses one for a document, however often it leaves memory', () => {
    const clients = new OwnClients();
    const first = write(clients, undefined, 'a');
    const second = write(clients, first.state, 'b');
    expect([second.client, second.doc.getText('t').toString()]).toEqual([first.client, 'ba']);
  });

  it('takes another after a change that was told and then lost, so that nobody has two texts under one id', () => {
    const clients = new OwnClients();
    const kept = write(clients, undefined, 'kept');
    const lost = write(clients, kept.state, 'lost');
    const next = write(clients, kept.state, 'next');
    expect(lost.client).toBe(kept.client);
    expect(next.client).not.toBe(kept.client);
    // Somebody was told of the lost one and comes back with it.
    Y.applyUpdate(next.doc, lost.state);
    Y.applyUpdate(lost.doc, next.state);
    expect(next.doc.getText('t').toString()).toBe(lost.doc.getText('t').toString());
    expect(next.doc.getText('t').toString()).toContain('lost');
  });

  it('takes another where somebody else writes under its id', () => {
    const clients = new OwnClients();
    const own = write(clients, undefined, 'own');
    const thief = new Y.Doc();
    Y.applyUpdate(thief, own.state);
    thief.clientID = own.client ?? 0;
    thief.getText('t').insert(0, 'x');
    expect(write(clients, Y.encodeStateAsUpdate(thief), 'y').client).not.toBe(own.client);
  });
});
