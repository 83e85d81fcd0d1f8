/** One artifact that somebody follows: who wants to hear what, and what this process knows of its recent changes. */
import type { Change, Clock } from '../../../actors/ports.ts';
import type { ArtifactId } from '../../../protocol/ids.ts';
import { CHANGE_TYPES, type ChangeType } from '../../../protocol/schemas/change.ts';
import { type CommentText, eventOf, eventsOf, typeOfChange } from './events.ts';
import { type EventsRead, type Follower, PAGE_EVENTS } from './follower.ts';
import type { ChangesRead, ChangesWanted } from './store.ts';

export interface FollowedDeps {
  readonly clock: Clock;
  readonly commentText: CommentText;
  /** One snapshot of the store. Null where there is no such artifact. */
  readonly readStore: (id: ArtifactId, wanted: ChangesWanted) => Promise<ChangesRead | null>;
}

/** Followers who want the same: a commit of what they do not want does not touch them. */
interface Group {
  readonly types: readonly ChangeType[];
  readonly followers: Set<Follower>;
}

export class Followed {
  /** Of the last commit that was told; 0 before the first. */
  lastSeq = 0;
  readonly #id: ArtifactId;
  readonly #deps: FollowedDeps;
  readonly #groups = new Map<string, Group>();
  /** Reads under way: whoever comes back at the same time with the same wish shares one. */
  readonly #reads = new Map<string, Promise<EventsRead | null>>();

  constructor(id: ArtifactId, deps: FollowedDeps) {
    this.#id = id;
    this.#deps = deps;
  }

  get isEmpty(): boolean {
    return this.#groups.size === 0;
  }

  add(follower: Follower, types: readonly ChangeType[]): void {
    const key = keyOf(types);
    const group = this.#groups.get(key) ?? { types, followers: new Set() };
    this.#groups.set(key, group);
    group.followers.add(follower);
  }

  remove(follower: Follower, types: readonly ChangeType[]): void {
    const key = keyOf(types);
    const group = this.#groups.get(key);
    group?.followers.delete(follower);
    if (group?.followers.size === 0) this.#groups.delete(key);
  }

  each(tell: (follower: Follower) => void): void {
    for (const { followers } of [...this.#groups.values()]) for (const follower of [...followers]) tell(follower);
  }

  /** One snapshot of what these types have after a seq. A follower that joins a read has heard of every commit that it may lack. */
  read(sinceSeq: number, types: readonly ChangeType[], reserved: boolean): Promise<EventsRead | null> {
    const key = `${sinceSeq} ${reserved} ${keyOf(types)}`;
    const underWay = this.#reads.get(key);
    if (underWay !== undefined) return underWay;
    const read = this.#read(sinceSeq, types, reserved).finally(() => this.#reads.delete(key));
    this.#reads.set(key, read);
    return read;
  }

  committed(changes: readonly Change[]): void {
    const [first] = changes;
    const last = changes.at(-1);
    if (first === undefined || last === undefined) return;
    // Something may have been committed before it of which nobody told: those who are behind that read the store.
    if (first.seq !== this.lastSeq + 1) this.each((follower) => follower.missed(first.seq - 1));
    const inCommit = new Set<ChangeType>();
    for (const change of changes) {
      const type = typeOfChange(change);
      if (type !== undefined) inCommit.add(type);
    }
    // Before anybody is told: who opens a follower meanwhile must know of it.
    this.lastSeq = last.seq;
    this.#tell(changes, inCommit, last.seq);
    if (changes.some(({ kind }) => kind === 'comments.config')) this.#recheckComments();
  }

  /** `storedSeq`: of the last change in the store, 0 where that is not known. */
  beat(storedSeq: number): void {
    const hidden = storedSeq > this.lastSeq;
    this.each((follower) => {
      if (hidden) follower.missed(storedSeq);
      follower.beat();
    });
  }

  #recheckComments(): void {
    for (const { types, followers } of [...this.#groups.values()]) {
      if (types.includes('comments')) for (const follower of [...followers]) follower.recheck();
    }
  }

  #tell(changes: readonly Change[], inCommit: ReadonlySet<ChangeType>, lastSeq: number): void {
    const groups = [...this.#groups.values()].filter(({ types }) => types.some((type) => inCommit.has(type)));
    if (groups.length === 0) return;
    const wanted = new Set(CHANGE_TYPES.filter((type) => inCommit.has(type) && groups.some(({ types }) => types.includes(type))));
    const events = eventsOf(changes, wanted, this.#deps.commentText);
    for (const { types, followers } of groups) {
      const ofGroup = events.filter(({ type }) => types.includes(type));
      for (const follower of [...followers]) follower.committed(ofGroup, lastSeq);
    }
  }

  async #read(sinceSeq: number, types: readonly ChangeType[], reserved: boolean): Promise<EventsRead | null> {
    const { clock, readStore } = this.#deps;
    const wanted = { sinceSeq, types, reserved, limit: PAGE_EVENTS, nowMs: clock.nowMs() };
    const read = await readStore(this.#id, wanted);
    return read && { ...read, events: read.things.map(eventOf) };
  }
}

function keyOf(types: readonly ChangeType[]): string {
  return types.length === 1 ? (types[0] ?? '') : [...types].sort().join();
}
