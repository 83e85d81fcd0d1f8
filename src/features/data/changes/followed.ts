/** One artifact that has followers: which types each follower wants, and the latest change that this process knows of. */
import type { Change } from '../../../../actors/kinds.ts';
import type { Clock } from '../../../../actors/runtime/ports.ts';
import type { ArtifactId } from '../../../../protocol/core/ids.ts';
import { CHANGE_TYPES, type ChangeType } from '../../../../protocol/data/changes.ts';
import { eventOf, eventsOf, typeOfChange, typeOfSetting } from './events.ts';
import type { ChangesWanted } from './feed.ts';
import { type EventsRead, type Follower, PAGE_EVENTS } from './follower.ts';
import type { ChangesRead } from './store.ts';

export interface FollowedDeps {
  readonly clock: Clock;
  /** Reads one snapshot of the store. Null if the artifact does not exist. */
  readonly readStore: (id: ArtifactId, wanted: ChangesWanted) => Promise<ChangesRead | null>;
}

/** Followers of the same types. A commit without changes of these types skips the whole group. */
interface Group {
  readonly types: readonly ChangeType[];
  readonly followers: Set<Follower>;
}

export class Followed {
  /** The seq of the last commit sent to followers; 0 before the first. */
  lastSeq = 0;
  readonly #id: ArtifactId;
  readonly #deps: FollowedDeps;
  readonly #groups = new Map<string, Group>();
  /** Reads in flight: clients that reconnect at the same time with the same request share one read. */
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

  /** Reads the events of these types after a seq in one snapshot. A follower that joins a read in flight knows of any commit it lacks. */
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
    // A gap: earlier commits may not have been reported, so followers that have not seen them read the store.
    if (first.seq !== this.lastSeq + 1) this.each((follower) => follower.missed(first.seq - 1));
    const inCommit = new Set<ChangeType>();
    for (const change of changes) {
      const type = typeOfChange(change);
      if (type !== undefined) inCommit.add(type);
    }
    // Set before notifying anyone, so that a follower opened meanwhile starts from this commit.
    this.lastSeq = last.seq;
    this.#tell(changes, inCommit, last.seq);
    for (const type of new Set(changes.map(typeOfSetting))) if (type !== undefined) this.#recheck(type);
  }

  /** `storedSeq`: seq of the last change in the store; 0 if unknown. */
  beat(storedSeq: number): void {
    const hidden = storedSeq > this.lastSeq;
    this.each((follower) => {
      if (hidden) follower.missed(storedSeq);
      follower.beat();
    });
  }

  #recheck(type: ChangeType): void {
    for (const { types, followers } of [...this.#groups.values()]) {
      if (types.includes(type)) for (const follower of [...followers]) follower.recheck();
    }
  }

  #tell(changes: readonly Change[], inCommit: ReadonlySet<ChangeType>, lastSeq: number): void {
    const groups = [...this.#groups.values()].filter(({ types }) => types.some((type) => inCommit.has(type)));
    if (groups.length === 0) return;
    const wanted = new Set(CHANGE_TYPES.filter((type) => inCommit.has(type) && groups.some(({ types }) => types.includes(type))));
    const events = eventsOf(changes, wanted);
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
