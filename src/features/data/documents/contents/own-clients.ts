/**
 * The Yjs client ids under which this process writes documents. Every copy of a document keeps each client id for ever, so an id is reused
 * as long as that is safe. It is not safe when a change written under the id was sent to a peer and then lost in a crash: a second change
 * with the same id and clock would make the copies differ.
 */
import * as Y from 'yjs';
import type { ArtifactId } from '../../../../../protocol/core/ids.ts';
import { BoundedMap } from '../../../../platform/cache.ts';

interface OwnClient {
  readonly id: number;
  /** The Yjs clock of the id: how much was written under it. */
  readonly clock: number;
}

// Documents. After an eviction the document gets a new id.
const KNOWN_MAX = 10_000;

export class OwnClients {
  readonly #known = new BoundedMap<string, OwnClient>(KNOWN_MAX);

  /** Call in `LiveDocument.edit`. Runs `write`, which must not throw, under an id of this process. */
  writing(artifactId: ArtifactId, name: string, doc: Y.Doc, write: () => void): void {
    const key = `${artifactId}/${name}`;
    const known = this.#known.get(key);
    // Yjs gives a loaded document a fresh random id, which no peer has seen.
    const unused = doc.clientID;
    const isReusable = known !== undefined && Y.getState(doc.store, known.id) === known.clock;
    doc.clientID = isReusable ? known.id : unused;
    write();
    this.#known.set(key, { id: doc.clientID, clock: Y.getState(doc.store, doc.clientID) });
    doc.clientID = unused;
  }
}
