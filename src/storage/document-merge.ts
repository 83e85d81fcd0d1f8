/** What is computed over whole documents of Yjs. It may take long: only the thread for it calls this. */
import * as Y from 'yjs';
import { buildDocument } from '../../actors/documents/document-content.ts';
import { takeWaiting } from '../../actors/documents/update-gap.ts';
import { unframed } from './live/documents.ts';

/** Everything of `snapshot` and of `updates` (one after the other, each with its length before it). Throws where the snapshot cannot be read. */
export function mergedDocument(snapshot: Uint8Array | null, updates: Uint8Array): Y.Doc {
  return buildDocument(snapshot, unframed(updates), () => new Y.Doc()).doc;
}

/** The same as one update. */
export function mergeState(snapshot: Uint8Array | null, updates: Uint8Array): Uint8Array {
  return Y.encodeStateAsUpdate(mergedDocument(snapshot, updates));
}

const SINCE = Symbol('changes since the state to come back to');

/**
 * The update that brings a document from the state `current` back to what it showed in the state `target`, an earlier one of its own:
 * everything since is undone on a copy. It merges like any other, with what is written meanwhile.
 */
export function restoringUpdate(current: Uint8Array, target: Uint8Array): Uint8Array {
  const doc = new Y.Doc();
  Y.applyUpdate(doc, current);
  // What was deleted since must still be there to come back.
  const copy = new Y.Doc({ gc: false });
  Y.applyUpdate(copy, target);
  const undo = new Y.UndoManager(copy, { trackedOrigins: new Set([SINCE]), captureTimeout: Number.MAX_SAFE_INTEGER });
  Y.applyUpdate(copy, Y.encodeStateAsUpdate(doc, Y.encodeStateVector(copy)), SINCE);
  undo.undo();
  // An update over what waits for missing ones would itself be refused as incomplete.
  takeWaiting(copy);
  return Y.encodeStateAsUpdate(copy, Y.encodeStateVector(doc));
}
