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
  /** Folders of a workspace or of an account: what they are called, who sees them, where they are and what is in them. */
  | { readonly kind: 'folder.changed'; readonly workspaceId: WorkspaceId | null; readonly ownerId: UserId | null };

interface AboutArtifact {
  readonly artifactId: ArtifactId;
  /** Every slug it had or has: what is served under them may be different now. */
  readonly slugs: readonly string[];
}

export type FactKind = Fact['kind'];
export type ArtifactFact = Extract<Fact, AboutArtifact>;
type Reaction<K extends FactKind> = (fact: Extract<Fact, { kind: K }>) => void | Promise<void>;
export type Reactions = { readonly [K in FactKind]?: Reaction<K> };

export interface Bus {
  /** Call after the commit. A reaction that fails is logged and stops no other. */
  tell(fact: Fact): void;
  /** Declares a cache and what drops it. A reaction must drop in the same turn. Names are unique. */
  cache(name: string, drops: Reactions): void;
  /** Declares a listener. It runs when every cache has dropped what the fact made stale. */
  listen(name: string, reactions: Reactions): void;
}

/** The same reaction to every fact about an artifact. */
export function onArtifact(reaction: (fact: ArtifactFact) => void | Promise<void>): Reactions {
  return { 'artifact.changed': reaction, 'artifact.gone': reaction, 'artifact.replaced': reaction };
}

type Reacting = readonly [name: string, reactions: Reactions];

/** The bus of one process. */
export class LocalBus implements Bus {
  readonly #log: Log;
  readonly #caches: Reacting[] = [];
  readonly #listeners: Reacting[] = [];

  constructor(log: Log) {
    this.#log = log;
  }

  tell(fact: Fact): void {
    for (const reacting of this.#caches) this.#react(reacting, fact);
    for (const reacting of this.#listeners) this.#react(reacting, fact);
  }

  cache(name: string, drops: Reactions): void {
    this.#add(this.#caches, name, drops);
  }

  listen(name: string, reactions: Reactions): void {
    this.#add(this.#listeners, name, reactions);
  }

  #add(to: Reacting[], name: string, reactions: Reactions): void {
    if ([...this.#caches, ...this.#listeners].some(([known]) => known === name))
      throw new Error(`Two parts are called ${name} on the bus.`);
    to.push([name, reactions]);
  }

  #react([name, reactions]: Reacting, fact: Fact): void {
    // The map keeps each reaction's exact type; past this point all are called alike.
    const reaction = reactions[fact.kind] as ((fact: Fact) => void | Promise<void>) | undefined;
    if (reaction === undefined) return;
    const failed = (err: unknown) => this.#log.error({ err, fact: fact.kind, reaction: name }, 'a reaction to a changed fact failed');
    try {
      Promise.resolve(reaction(fact)).catch(failed);
    } catch (err) {
      failed(err);
    }
  }
}
