/** Tells the followers of each artifact what its actor has committed. */
import { type ArtifactHead, decide, type Principal, roleOf } from '../../../../actors/access/access.ts';
import type { Change } from '../../../../actors/kinds.ts';
import type { Clock, Log, Timer } from '../../../../actors/runtime/ports.ts';
import type { CommitListener } from '../../../../actors/runtime/runtime.ts';
import { Failure } from '../../../../protocol/core/errors.ts';
import type { ArtifactId } from '../../../../protocol/core/ids.ts';
import type { ChangeType } from '../../../../protocol/data/changes.ts';
import { networkOf } from '../../../edge/address.ts';
import type { ReplySink, ReplyStream } from '../../../edge/reply-stream.ts';
import type { Bus } from '../../../platform/bus.ts';
import { type Exhausted, type Refusals, type ShareBounds, Shares } from '../../../platform/shares.ts';
import type { Sql } from '../../../storage/sql.ts';
import type { AccessWatch } from '../../people/access-watch/access-watch.ts';
import { Followed } from './followed.ts';
import { Follower, type Outlet } from './follower.ts';
import { FEEDS } from './kinds.ts';
import { sseOutlet } from './sse.ts';
import { readChanges, readHeadSeqs } from './store.ts';

/** contract.md §5. */
const HEARTBEAT_MS = 15_000;
const RETRY_AFTER_S = 10;

const MESSAGES: Readonly<Record<Exhausted, string>> = {
  total: 'Too many streams are open.',
  network: 'Too many streams of this network are open.',
  caller: 'Too many streams with this credential are open.',
  artifact: 'Too many streams of this artifact are open.',
};

export interface ChangeHubDeps {
  readonly sql: Sql;
  readonly clock: Clock;
  readonly log: Log;
  readonly bus: Bus;
  readonly access: AccessWatch;
  /** How many streams there may be. */
  readonly streams: ShareBounds;
  readonly refusals: Refusals;
  readonly runtime: { onCommitted(listener: CommitListener): void };
}

/** Who follows. */
export interface StreamCaller {
  readonly principal: Principal;
  readonly address: string;
}

export interface FollowRequest {
  readonly types: readonly ChangeType[];
  readonly reserved: boolean;
  readonly sinceSeq: number | undefined;
}

export class ChangeHub {
  readonly #deps: ChangeHubDeps;
  readonly #followed = new Map<ArtifactId, Followed>();
  readonly #streams: Shares;
  #beat: Timer | undefined;

  constructor(deps: ChangeHubDeps) {
    this.#deps = deps;
    this.#streams = new Shares(deps.streams);
    deps.runtime.onCommitted((id, changes) => this.#committed(id, changes));
    // The data was replaced without its actor: clients are disconnected, reconnect and read the new data.
    deps.bus.listen('change hub', {
      'artifact.replaced': ({ artifactId }) => this.#followed.get(artifactId)?.each((follower) => follower.end()),
      // What was written elsewhere shows in the store.
      resync: () => this.#compare(),
    });
  }

  /** A stream of events that ends when the caller loses read access. Throws UNAVAILABLE. */
  stream(artifactId: ArtifactId, { principal, address }: StreamCaller, request: FollowRequest): ReplyStream {
    const holders = {
      network: networkOf(address),
      caller: principal.kind === 'anonymous' ? undefined : principal.tokenId,
      artifact: artifactId,
    };
    const exhausted = this.#streams.take(1, holders);
    if (exhausted !== undefined) {
      this.#deps.refusals.refused('streams', exhausted);
      throw new Failure('UNAVAILABLE', { message: MESSAGES[exhausted], retryAfterS: RETRY_AFTER_S });
    }
    const leave = () => this.#streams.give(1, holders);
    return { endless: true, start: (sink) => this.#openStream(artifactId, principal, request, sink, leave), abandon: leave };
  }

  /** Open streams. */
  get streams(): number {
    return this.#streams.total;
  }

  /** Opens a follower that starts immediately. The caller must report when the outlet has drained, and close the follower. */
  follow(artifactId: ArtifactId, request: FollowRequest, outlet: Outlet, onClosed: () => void): Follower {
    const { clock, sql } = this.#deps;
    let followed = this.#followed.get(artifactId);
    if (followed === undefined) {
      followed = new Followed(artifactId, {
        clock,
        readStore: (id, wanted) => readChanges(sql, id, wanted),
      });
      this.#followed.set(artifactId, followed);
    }
    const { reserved, types, sinceSeq } = request;
    const of = followed;
    const follower = new Follower(reserved, {
      outlet,
      sinceSeq,
      knownSeq: of.lastSeq,
      read: (since, withReserved) => of.read(since, types, withReserved),
      onClosed: () => {
        of.remove(follower, types);
        if (of.isEmpty && this.#followed.get(artifactId) === of) this.#followed.delete(artifactId);
        if (this.#followed.size === 0) {
          this.#beat?.cancel();
          this.#beat = undefined;
        }
        onClosed();
      },
    });
    of.add(follower, types);
    this.#beat ??= clock.after(HEARTBEAT_MS, () => void this.#heartbeat());
    void follower.start();
    return follower;
  }

  #openStream(artifactId: ArtifactId, principal: Principal, request: FollowRequest, sink: ReplySink, onClosed: () => void): void {
    let follower: Follower | undefined;
    const unwatch = this.#deps.access.watch(artifactId, principal, (now) => {
      if ('over' in now || !mayFollow(now.head, now.principal, request.types)) follower?.end();
      else if (follower !== undefined) follower.reserved = maySeeReserved(now.head, now.principal);
    });
    const opened = this.follow(artifactId, request, sseOutlet(sink), () => {
      onClosed();
      unwatch();
    });
    follower = opened;
    sink.onClose(() => opened.close());
    sink.onDrain(() => opened.drained());
  }

  #committed(id: ArtifactId, changes: readonly Change[]): void {
    this.#followed.get(id)?.committed(changes);
  }

  async #heartbeat(): Promise<void> {
    const beat = this.#beat;
    await this.#compare();
    // The last follower left during the read. Followers that came since have started a new heartbeat, so this one stops.
    if (this.#beat !== beat) return;
    this.#beat = this.#followed.size > 0 ? this.#deps.clock.after(HEARTBEAT_MS, () => void this.#heartbeat()) : undefined;
  }

  /** Beats for every follower; those that have missed something in the store read it. Never rejects. */
  async #compare(): Promise<void> {
    if (this.#followed.size === 0) return;
    let seqs: ReadonlyMap<ArtifactId, number> = new Map();
    try {
      seqs = await readHeadSeqs(this.#deps.sql, [...this.#followed.keys()]);
    } catch (err) {
      this.#deps.log.warn({ err }, 'followers were not compared with the store; the next heartbeat tries again');
    }
    for (const [id, followed] of [...this.#followed]) followed.beat(seqs.get(id) ?? 0);
  }
}

export function mayFollow(head: ArtifactHead, principal: Principal, types: readonly ChangeType[]): boolean {
  return types.every((type) => decide(head, principal, FEEDS[type].need, 'data:read') === 'allowed');
}

export function maySeeReserved(head: ArtifactHead, principal: Principal): boolean {
  const role = roleOf(head, principal);
  return role === 'owner' || role === 'editor';
}
