/** The Yjs client ids under which the service writes documents. */
import { describe, expect, it } from 'vitest';
import * as Y from 'yjs';
import { newId } from '../../../../protocol/core/ids.ts';
import { OwnClients } from '../../../../src/features/data/documents/contents/own-clients.ts';

const id = newId('artifact');

/** Inserts a text into a copy of the stored document. Answers the new state and the client id of the change. */
function write(clients: OwnClients, stored: Uint8Array | undefined, text: string) {
  const doc = new Y.Doc();
  if (stored !== undefined) Y.applyUpdate(doc, stored);
  const before = Y.decodeStateVector(Y.encodeStateVector(doc));
  doc.transact(() => clients.writing(id, 'notes', doc, () => doc.getText('t').insert(0, text)));
  const [client] = [...Y.decodeStateVector(Y.encodeStateVector(doc))].find(([each, clock]) => (before.get(each) ?? 0) < clock) ?? [];
  return { client, doc, state: Y.encodeStateAsUpdate(doc) };
}

describe('own client ids', () => {
  it('reuses the id of a document that leaves memory between writes', () => {
    const clients = new OwnClients();
    const first = write(clients, undefined, 'a');
    const second = write(clients, first.state, 'b');
    expect([second.client, second.doc.getText('t').toString()]).toEqual([first.client, 'ba']);
  });

  it('takes a new id after a sent change was lost, so that no two changes share an id and clock', () => {
    const clients = new OwnClients();
    const kept = write(clients, undefined, 'kept');
    const lost = write(clients, kept.state, 'lost');
    const next = write(clients, kept.state, 'next');
    expect(lost.client).toBe(kept.client);
    expect(next.client).not.toBe(kept.client);
    // A peer that received the lost change reconnects with it.
    Y.applyUpdate(next.doc, lost.state);
    Y.applyUpdate(lost.doc, next.state);
    expect(next.doc.getText('t').toString()).toBe(lost.doc.getText('t').toString());
    expect(next.doc.getText('t').toString()).toContain('lost');
  });

  it('takes a new id when somebody else writes under its id', () => {
    const clients = new OwnClients();
    const own = write(clients, undefined, 'own');
    const thief = new Y.Doc();
    Y.applyUpdate(thief, own.state);
    thief.clientID = own.client ?? 0;
    thief.getText('t').insert(0, 'x');
    expect(write(clients, Y.encodeStateAsUpdate(thief), 'y').client).not.toBe(own.client);
  });
});
