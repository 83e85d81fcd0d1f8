/** Tells the open streams of each artifact what its actor has committed, and ends those whose reader may not read it any more. */
import { type ArtifactHead, decide, type Principal, roleOf } from '../../../actors/access.ts';
import type { Change, Clock, Log, Timer } from '../../../actors/ports.ts';
import type { CommitListener } from '../../../actors/runtime.ts';
import { Failure } from '../../../protocol/errors.ts';
import type { ArtifactId } from '../../../protocol/ids.ts';
import type { ChangeType } from '../../../protocol/schemas/change.ts';
import type { ReplySink, ReplyStream } from '../../edge/reply-stream.ts';
import type { Sql } from '../../storage/sql.ts';
import type { AccessNow, AccessWatch } from '../access-watch.ts';
import type { ArtifactNotices } from '../notices.ts';
import { eventOf, thingOf } from './events.ts';
import { Follower } from './follower.ts';
import { readChanges, readHeadSeqs } from './store.ts';

/** contract.md §5. */
const HEARTBEAT_MS = 15_000;
/** Open streams of one process; more are refused with UNAVAILABLE. */
const FOLLOWERS_MAX = 20_000;

export interface ChangeHubDeps {
  readonly sql: Sql;
  readonly clock: Clock;
  readonly log: Log;
  readonly notices: ArtifactNotices;
  readonly access: AccessWatch;
  readonly runtime: { onCommitted(listener: CommitListener): void };
}

export interface FollowRequest {
  readonly artifactId: ArtifactId;
  readonly principal: Principal;
  readonly types: readonly ChangeType[];
  readonly reserved: boolean;
  readonly sinceSeq: number | undefined;
}

interface Following {
  readonly follower: Follower;
  readonly principal: Principal;
}

export class ChangeHub {
  readonly #deps: ChangeHubDeps;
  readonly #followings = new Map<ArtifactId, Set<Following>>();
  #count = 0;
  #beat: Timer | undefined;

  constructor(deps: ChangeHubDeps) {
    this.#deps = deps;
    deps.runtime.onCommitted((id, changes) => this.#committed(id, changes));
    // Written behind its actor's back: what comes back reads what is there now.
    deps.notices.on(({ artifactId, kind }) => {
      if (kind === 'replaced') for (const { follower } of [...(this.#followings.get(artifactId) ?? [])]) follower.close();
    });
  }

  get followers(): number {
    return this.#count;
  }

  /** Throws UNAVAILABLE. */
  follow(request: FollowRequest): ReplyStream {
    if (this.#count >= FOLLOWERS_MAX) throw new Failure('UNAVAILABLE', { message: 'Too many streams are open.', retryAfterS: 10 });
    return { endless: true, start: (sink) => this.#open(sink, request) };
  }

  #open(sink: ReplySink, { artifactId, principal, types, reserved, sinceSeq }: FollowRequest): void {
    const { clock, sql, access } = this.#deps;
    const unwatch = access.watch(artifactId, principal, (now) => decideAnew(following, now));
    const following: Following = {
      principal,
      follower: new Follower(sink, reserved, {
        wanted: { types },
        sinceSeq,
        read: (wanted) => readChanges(sql, artifactId, { ...wanted, nowMs: clock.nowMs() }),
        onClosed: () => {
          unwatch();
          this.#remove(artifactId, following);
        },
      }),
    };
    const others = this.#followings.get(artifactId) ?? new Set();
    this.#followings.set(artifactId, others.add(following));
    this.#count += 1;
    this.#beat ??= clock.after(HEARTBEAT_MS, () => void this.#heartbeat());
    void following.follower.start();
  }

  #remove(id: ArtifactId, following: Following): void {
    const others = this.#followings.get(id);
    if (!others?.delete(following)) return;
    this.#count -= 1;
    if (others.size === 0) this.#followings.delete(id);
    if (this.#count > 0) return;
    this.#beat?.cancel();
    this.#beat = undefined;
  }

  #committed(id: ArtifactId, changes: readonly Change[]): void {
    const followings = this.#followings.get(id);
    if (followings === undefined) return;
    const [first] = changes;
    const last = changes.at(-1);
    if (first === undefined || last === undefined) return;
    const events = changes.flatMap((change) => thingOf(change) ?? []).map(eventOf);
    for (const { follower } of [...followings]) follower.committed({ events, firstSeq: first.seq, lastSeq: last.seq });
  }

  async #heartbeat(): Promise<void> {
    let seqs: ReadonlyMap<ArtifactId, number> = new Map();
    try {
      seqs = await readHeadSeqs(this.#deps.sql, [...this.#followings.keys()]);
    } catch (err) {
      this.#deps.log.warn({ err }, 'followers were not compared with the store; the next heartbeat tries again');
    }
    for (const [id, followings] of [...this.#followings]) {
      for (const { follower } of [...followings]) follower.beat(seqs.get(id));
    }
    this.#beat = this.#count > 0 ? this.#deps.clock.after(HEARTBEAT_MS, () => void this.#heartbeat()) : undefined;
  }
}

function decideAnew({ follower, principal }: Following, now: AccessNow): void {
  if ('over' in now || decide(now.head, principal, 'data:read', 'data:read') !== 'allowed') follower.close();
  else follower.reserved = mayUseReserved(now.head, principal);
}

function mayUseReserved(head: ArtifactHead, principal: Principal): boolean {
  const role = roleOf(head, principal);
  return role === 'owner' || role === 'editor';
}
