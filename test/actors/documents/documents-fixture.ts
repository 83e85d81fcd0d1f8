/** Yjs clients of a runtime over a store in memory. */
import * as Y from 'yjs';
import type { DocumentListener, LiveDocument } from '../../../actors/documents/live-document.ts';
import type { ArtifactActor } from '../../../actors/runtime/artifact-actor.ts';
import type { ActorRuntime } from '../../../actors/runtime/runtime.ts';
import type { ArtifactId } from '../../../protocol/core/ids.ts';

export const DOC = 'notes';

export function inDocument<T>(runtime: ActorRuntime, id: ArtifactId, use: (doc: LiveDocument) => T, name = DOC): T | Promise<T> {
  return runtime.ask(
    id,
    ({ documents }) => use(documents.open(name)),
    ({ documents }) => documents.prepare(name),
  );
}

export function withList<T>(runtime: ActorRuntime, id: ArtifactId, use: (actor: ArtifactActor) => T): T | Promise<T> {
  return runtime.ask(id, use, ({ documents }) => documents.prepareList());
}

/** The text `t` of a document as a new client gets it. */
export async function textOf(runtime: ActorRuntime, id: ArtifactId, name = DOC): Promise<string> {
  const copy = new Y.Doc();
  Y.applyUpdate(copy, await inDocument(runtime, id, (doc) => doc.missing(), name));
  return copy.getText('t').toString();
}

/** Changes a client's own copy and returns the update. */
export function change(doc: Y.Doc, make: (doc: Y.Doc) => void): Uint8Array {
  const before = Y.encodeStateVector(doc);
  doc.transact(() => make(doc));
  return Y.encodeStateAsUpdate(doc, before);
}

/** A client that types at the end of the text `t` and keeps its own copy. */
export function typist(runtime: ActorRuntime, id: ArtifactId, name = DOC) {
  const copy = new Y.Doc();
  const send = (update: Uint8Array) => inDocument(runtime, id, (doc) => doc.apply(update, null, copy), name);
  return {
    copy,
    send,
    type: (text: string) => send(change(copy, (doc) => doc.getText('t').insert(doc.getText('t').length, text))),
  };
}

/** A listener that records its events. */
export function recorder(): DocumentListener & { readonly updates: Uint8Array[]; readonly ends: string[] } {
  const updates: Uint8Array[] = [];
  const ends: string[] = [];
  return { updates, ends, updated: (update) => void updates.push(update), over: (why) => void ends.push(why) };
}
