/** The people connected to each artifact by any kind of socket. Rooms and channels register them; GET …/presence reads them. */
import type { ArtifactId } from '../../protocol/core/ids.ts';
import type { Identity } from '../features/people/identities/identities.ts';

export interface ConnectedPerson extends Identity {
  readonly connections: number;
}

interface Entry {
  readonly identity: Identity;
  connections: number;
}

export class Connections {
  readonly #people = new Map<ArtifactId, Map<string, Entry>>();

  /** Returns a function to call once the socket is closed. */
  join(artifactId: ArtifactId, identity: Identity): () => void {
    const people = this.#people.get(artifactId) ?? new Map<string, Entry>();
    this.#people.set(artifactId, people);
    const entry = people.get(identity.id) ?? { identity, connections: 0 };
    people.set(identity.id, entry);
    entry.connections += 1;
    let left = false;
    return () => {
      if (left) return;
      left = true;
      entry.connections -= 1;
      if (entry.connections === 0) people.delete(identity.id);
      if (people.size === 0 && this.#people.get(artifactId) === people) this.#people.delete(artifactId);
    };
  }

  /** Distinct people; each anonymous connection counts as one. */
  count(artifactId: ArtifactId): number {
    return this.#people.get(artifactId)?.size ?? 0;
  }

  /** The people connected for longest, at most `peopleMax`. */
  people(artifactId: ArtifactId, peopleMax: number): ConnectedPerson[] {
    const found: ConnectedPerson[] = [];
    for (const { identity, connections } of this.#people.get(artifactId)?.values() ?? []) {
      if (found.length >= peopleMax) break;
      found.push({ ...identity, connections });
    }
    return found;
  }
}
