/**
 * The client ids of Yjs under which this process writes documents. Every copy of a document remembers each id for ever, so one that was
 * used is used again, but never for what may already have been said under it: what a peer was told and a crash took back must not be
 * said in other words.
 */
import * as Y from 'yjs';
import type { ArtifactId } from '../../../protocol/ids.ts';
import { BoundedMap } from '../../cache.ts';

interface OwnClient {
  readonly id: number;
  /** Of Yjs: how much was written under the id. */
  readonly clock: number;
}

// Documents; one that is forgotten gets another id.
const KNOWN_MAX = 10_000;

export class OwnClients {
  readonly #known = new BoundedMap<string, OwnClient>(KNOWN_MAX);

  /** Within `LiveDocument.edit`: runs `write`, which must not throw, under an id of this process. */
  writing(artifactId: ArtifactId, name: string, doc: Y.Doc, write: () => void): void {
    const key = `${artifactId}/${name}`;
    const known = this.#known.get(key);
    // As the document came from the store its own id is new, and nobody has seen it.
    const unused = doc.clientID;
    const isWhole = known !== undefined && Y.getState(doc.store, known.id) === known.clock;
    doc.clientID = isWhole ? known.id : unused;
    write();
    this.#known.set(key, { id: doc.clientID, clock: Y.getState(doc.store, doc.clientID) });
    doc.clientID = unused;
  }
}
