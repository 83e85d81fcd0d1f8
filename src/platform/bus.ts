/**
 * Facts that have changed, told after their commit. Every cache and everything that stays open hangs on it. Caches drop what is stale
 * before any listener hears of the fact, so that a listener that reads again reads the new state; beyond that, order is not a contract.
 */
import type { Log } from '../../actors/runtime/ports.ts';
import type { ArtifactId, TokenId, UserId, WorkspaceId } from '../../protocol/core/ids.ts';

export type Fact =
  /** Metadata, rights, slug, live version, preview links or comment settings of an artifact. */
  | (AboutArtifact & { readonly kind: 'artifact.changed' })
  /** Trashed or purged: its actor must leave memory. */
  | (AboutArtifact & { readonly kind: 'artifact.gone' })
  /** Its data was written behind the actor's back (import). */
  | (AboutArtifact & { readonly kind: 'artifact.replaced' })
  /** A new version of a dataset of it, or one was deleted. */
  | { readonly kind: 'dataset.changed'; readonly artifactId: ArtifactId }
  /** A token or a session. `credential`: its `credentialName`, which caches know it by. */
  | { readonly kind: 'token.revoked'; readonly tokenId: TokenId; readonly credential: string }
  /** Profile of an account. */
  | { readonly kind: 'account.changed'; readonly userId: UserId }
  /**
   * What these accounts belong to or may do: linked accounts, membership, role, tier, administration, deletion. Name every account of each
   * person, those that have just been unlinked included. Their tokens and sessions are read again.
   */
  | { readonly kind: 'person.changed'; readonly userIds: readonly UserId[] }
  /** Name, slug, branding, policies, features or end of a workspace. Of its members, its agents and its artifacts there are facts of their own. */
  | { readonly kind: 'workspace.changed'; readonly workspaceId: WorkspaceId }
  /** Jobs of an artifact: what they listen to may be different now. */
  | { readonly kind: 'jobs.changed'; readonly artifactId: ArtifactId }
  /** Folders of a workspace or of an account: what they are called, who sees them, where they are and what is in them. */
  | { readonly kind: 'folder.changed'; readonly workspaceId: WorkspaceId | null; readonly ownerId: UserId | null }
  /** What the installation offers (its flags), or its banner. */
  | { readonly kind: 'instance.changed' }
  /** These accounts have new notices in the bell, or have read some. */
  | { readonly kind: 'notices.changed'; readonly userIds: readonly UserId[] };

interface AboutArtifact {
  readonly artifactId: ArtifactId;
  /** Every slug it had or has: what is served under them may be different now. */
  readonly slugs: readonly string[];
}

export type FactKind = Fact['kind'];
export type ArtifactFact = Extract<Fact, AboutArtifact>;
type Reaction<K extends FactKind> = (fact: Extract<Fact, { kind: K }>) => void | Promise<void>;
export type Reactions = { readonly [K in FactKind]?: Reaction<K> };

/** What drops entries of a cache. */
export interface Drops extends Reactions {
  /** Drops all entries, in the same turn: facts may have been missed. Reads under way are repeated. */
  everything(): void;
}

/** What keeps something open up to date. */
export interface Hearing extends Reactions {
  /**
   * Facts of any kind may have been missed: decides everything anew, a bounded part at a time, because there may be much of it. Settles when
   * that is done; it is not called again before.
   */
  resync(): void | Promise<void>;
}

export interface Bus {
  /** Call after the commit. A reaction that fails is logged and stops no other. */
  tell(fact: Fact): void;
  /** Declares a cache and what drops it. A reaction must drop in the same turn. Names are unique. */
  cache(name: string, drops: Drops): void;
  /** Declares a listener. It runs when every cache has dropped what the fact made stale. */
  listen(name: string, hearing: Hearing): void;
}

/** The same reaction to every fact about an artifact. */
export function onArtifact(reaction: (fact: ArtifactFact) => void | Promise<void>): Reactions {
  return { 'artifact.changed': reaction, 'artifact.gone': reaction, 'artifact.replaced': reaction };
}

interface Listener {
  readonly name: string;
  readonly hearing: Hearing;
  /** A resync is `asked` for while one is `running`: it runs again after it. */
  resync: 'idle' | 'running' | 'asked';
}

/** Who reacts to facts in this process. */
export class FactReactions {
  readonly #log: Log;
  readonly #caches = new Map<string, Drops>();
  readonly #listeners = new Map<string, Listener>();

  constructor(log: Log) {
    this.#log = log;
  }

  cache(name: string, drops: Drops): void {
    this.#requireNew(name);
    this.#caches.set(name, drops);
  }

  listen(name: string, hearing: Hearing): void {
    this.#requireNew(name);
    this.#listeners.set(name, { name, hearing, resync: 'idle' });
  }

  react(fact: Fact): void {
    for (const [name, drops] of this.#caches) this.#run(name, fact.kind, () => reactionTo(fact, drops));
    for (const { name, hearing } of this.#listeners.values()) this.#run(name, fact.kind, () => reactionTo(fact, hearing));
  }

  /** Drops all caches, at once. */
  dropAll(): void {
    for (const [name, drops] of this.#caches) this.#run(name, 'everything', () => drops.everything());
  }

  /** Facts were missed: drops all caches and has every listener decide anew. */
  resync(): void {
    this.dropAll();
    for (const listener of this.#listeners.values()) {
      if (listener.resync === 'idle') void this.#resync(listener);
      else listener.resync = 'asked';
    }
  }

  async #resync(listener: Listener): Promise<void> {
    do {
      listener.resync = 'running';
      await this.#run(listener.name, 'resync', () => listener.hearing.resync());
    } while (isAskedAgain(listener));
    listener.resync = 'idle';
  }

  #requireNew(name: string): void {
    if (this.#caches.has(name) || this.#listeners.has(name)) throw new Error(`Two parts are called ${name} on the bus.`);
  }

  /** Never rejects. */
  #run(reaction: string, fact: FactKind | 'everything' | 'resync', run: () => void | Promise<void>): void | Promise<void> {
    const failed = (err: unknown) => this.#log.error({ err, fact, reaction }, 'a reaction to a changed fact failed');
    try {
      return run()?.catch(failed);
    } catch (err) {
      failed(err);
    }
  }
}

/** Told by others during an await, which the compiler cannot see. */
function isAskedAgain({ resync }: { readonly resync: Listener['resync'] }): boolean {
  return resync === 'asked';
}

function reactionTo(fact: Fact, reactions: Reactions): void | Promise<void> {
  // The map keeps each reaction's exact type; past this point all are called alike.
  const reaction = reactions[fact.kind] as ((fact: Fact) => void | Promise<void>) | undefined;
  return reaction?.(fact);
}

/** The bus of one process: nothing is ever missed. */
export class LocalBus implements Bus {
  readonly #reactions: FactReactions;

  constructor(log: Log) {
    this.#reactions = new FactReactions(log);
  }

  tell(fact: Fact): void {
    this.#reactions.react(fact);
  }

  cache(name: string, drops: Drops): void {
    this.#reactions.cache(name, drops);
  }

  listen(name: string, hearing: Hearing): void {
    this.#reactions.listen(name, hearing);
  }
}
