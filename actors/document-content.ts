/** A document of Yjs out of what is stored of it. */
import * as Y from 'yjs';

// Updates left out of one document before it counts as unreadable.
const LEFT_OUT_MAX = 100;

export interface Built {
  readonly doc: Y.Doc;
  /** Updates that Yjs cannot apply: none unless somebody sent what no client makes. */
  readonly leftOut: number;
}

/**
 * The snapshot, then the updates in order, on what `begin` makes. Throws what Yjs throws where the snapshot cannot be read.
 * An update can be such that Yjs took it once and not again, because it contradicts what was there: that must not cost the rest.
 */
export function buildDocument(snapshot: Uint8Array | null, updates: readonly Uint8Array[], begin: () => Y.Doc): Built {
  try {
    const doc = begin();
    // One transaction: its end costs as much as the document has clients.
    doc.transact(() => {
      if (snapshot !== null) Y.applyUpdate(doc, snapshot);
      for (const update of updates) Y.applyUpdate(doc, update);
    });
    return { doc, leftOut: 0 };
  } catch (error) {
    if (updates.length === 0) throw error;
    return buildOneByOne(snapshot, updates, begin);
  }
}

function buildOneByOne(snapshot: Uint8Array | null, updates: readonly Uint8Array[], begin: () => Y.Doc): Built {
  const left = [...updates];
  for (let leftOut = 0; ; leftOut += 1) {
    const doc = begin();
    if (snapshot !== null) Y.applyUpdate(doc, snapshot);
    const failure = firstFailure(doc, left);
    if (failure === undefined) return { doc, leftOut };
    if (leftOut >= LEFT_OUT_MAX) throw failure.error;
    // Half of it is in: all over again without it.
    left.splice(failure.at, 1);
  }
}

function firstFailure(doc: Y.Doc, updates: readonly Uint8Array[]): { readonly at: number; readonly error: unknown } | undefined {
  for (const [at, update] of updates.entries()) {
    try {
      Y.applyUpdate(doc, update);
    } catch (error) {
      return { at, error };
    }
  }
  return undefined;
}
