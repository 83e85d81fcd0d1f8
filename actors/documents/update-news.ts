/** Whether an update says anything that a document of Yjs does not know. */
import * as Y from 'yjs';

/** Reads all of the update: for the few times that it must be known without applying it. */
export function holdsNothingNew(doc: Y.Doc, update: Uint8Array): boolean {
  const { store } = doc;
  const { structs, ds } = Y.decodeUpdate(update);
  for (const struct of structs) {
    if (!(struct instanceof Y.Skip) && struct.id.clock + struct.length > Y.getState(store, struct.id.client)) return false;
  }
  for (const [client, ranges] of ds.clients) {
    if (ranges.some(({ clock, len }) => !isDeleted(store.clients.get(client) ?? [], clock, clock + len))) return false;
  }
  return true;
}

function isDeleted(structs: readonly (Y.Item | Y.GC)[], from: number, to: number): boolean {
  const last = structs.at(-1);
  if (last === undefined || last.id.clock + last.length < to) return from === to;
  if (from === to) return true;
  let clock = from;
  for (let at = Y.findIndexSS(structs as (Y.Item | Y.GC)[], from); clock < to; at += 1) {
    const struct = structs[at];
    if (struct === undefined || !struct.deleted) return false;
    clock = struct.id.clock + struct.length;
  }
  return true;
}
