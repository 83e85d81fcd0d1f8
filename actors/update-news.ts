/** Whether an update says anything that a document of Yjs does not know: in what it holds, or in what waits for others to come. */
import * as Y from 'yjs';

/** What of the updates so far could not be applied yet. */
export interface Pending {
  readonly structs: Uint8Array | undefined;
  readonly deletes: Uint8Array | undefined;
  readonly bytes: number;
  /** Takes back what has come to wait since; only where nothing else has changed since. */
  restore(doc: Y.Doc): void;
}

const NOTHING: Pending = {
  structs: undefined,
  deletes: undefined,
  bytes: 0,
  restore: ({ store }) => {
    store.pendingStructs = null;
    store.pendingDs = null;
  },
};

export function pendingOf({ store: { pendingStructs, pendingDs } }: Y.Doc): Pending {
  if (pendingStructs === null && pendingDs === null) return NOTHING;
  // Yjs writes into the record of what waits.
  const waiting = pendingStructs === null ? null : { missing: new Map(pendingStructs.missing), update: pendingStructs.update };
  return {
    structs: waiting?.update,
    deletes: pendingDs ?? undefined,
    bytes: (waiting?.update.byteLength ?? 0) + (pendingDs?.byteLength ?? 0),
    restore: ({ store }) => {
      store.pendingStructs = waiting;
      store.pendingDs = pendingDs;
    },
  };
}

export function isSamePending(a: Pending, b: Pending): boolean {
  return isSame(a.structs, b.structs) && isSame(a.deletes, b.deletes);
}

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

function isSame(a: Uint8Array | undefined, b: Uint8Array | undefined): boolean {
  if (a === b) return true;
  if (a === undefined || b === undefined || a.byteLength !== b.byteLength) return false;
  return a.every((byte, at) => byte === b[at]);
}
