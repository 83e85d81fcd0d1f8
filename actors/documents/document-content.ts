/** Builds a Yjs document from its stored content. */
import * as Y from 'yjs';
import { mergedInSteps, takeWaiting } from './update-gap.ts';

// Updates left out of one document before it counts as unreadable.
const LEFT_OUT_MAX = 100;

export interface Built {
  readonly doc: Y.Doc;
  /** Number of updates that Yjs cannot apply; 0 unless a client sent a malformed one. */
  readonly leftOut: number;
}

/**
 * The snapshot, then the updates in order, on what `begin` makes. Throws what Yjs throws where the snapshot cannot be read.
 * Yjs may have accepted an update once and fail on it now, because it contradicts earlier content: the other updates must still be applied.
 * What builds on missing updates is applied last, all at once, and what then still waits stays pending in the document.
 */
export function buildDocument(snapshot: Uint8Array | null, updates: readonly Uint8Array[], begin: () => Y.Doc): Built {
  try {
    const doc = begin();
    // One transaction: its end costs as much as the document has clients.
    doc.transact(() => {
      const waiting: Uint8Array[] = [];
      if (snapshot !== null) applyApart(doc, snapshot, waiting);
      for (const update of updates) applyApart(doc, update, waiting);
      if (waiting.length > 0) Y.applyUpdateV2(doc, mergedInSteps(waiting));
    });
    return { doc, leftOut: 0 };
  } catch (error) {
    if (updates.length === 0) throw error;
    return buildOneByOne(snapshot, updates, begin);
  }
}

/** Yjs would look through all that waits at every further update. */
function applyApart(doc: Y.Doc, update: Uint8Array, waiting: Uint8Array[]): void {
  Y.applyUpdate(doc, update);
  const left = takeWaiting(doc);
  if (left !== undefined) waiting.push(left.update);
}

function buildOneByOne(snapshot: Uint8Array | null, updates: readonly Uint8Array[], begin: () => Y.Doc): Built {
  const left = [...updates];
  for (let leftOut = 0; ; leftOut += 1) {
    const doc = begin();
    const waiting: Uint8Array[] = [];
    if (snapshot !== null) applyApart(doc, snapshot, waiting);
    const failure = firstFailure(doc, left, waiting);
    if (failure === undefined) {
      if (waiting.length > 0) Y.applyUpdateV2(doc, mergedInSteps(waiting));
      return { doc, leftOut };
    }
    if (leftOut >= LEFT_OUT_MAX) throw failure.error;
    // The update was applied in part: start again without it.
    left.splice(failure.at, 1);
  }
}

function firstFailure(
  doc: Y.Doc,
  updates: readonly Uint8Array[],
  waiting: Uint8Array[],
): { readonly at: number; readonly error: unknown } | undefined {
  for (const [at, update] of updates.entries()) {
    try {
      applyApart(doc, update, waiting);
    } catch (error) {
      return { at, error };
    }
  }
  return undefined;
}
