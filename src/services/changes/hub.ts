/** Tells the followers of each artifact what its actor has committed. */
import { type ArtifactHead, decide, type Principal, roleOf } from '../../../actors/access.ts';
import type { Change, Clock, Log, Timer } from '../../../actors/ports.ts';
import type { CommitListener } from '../../../actors/runtime.ts';
import type { Need } from '../../../protocol/endpoint.ts';
import { Failure } from '../../../protocol/errors.ts';
import type { ArtifactId } from '../../../protocol/ids.ts';
import type { ChangeType } from '../../../protocol/schemas/change.ts';
import type { ReplySink, ReplyStream } from '../../edge/reply-stream.ts';
import type { Sql } from '../../storage/sql.ts';
import type { AccessWatch } from '../access-watch.ts';
import type { ArtifactNotices } from '../notices.ts';
import type { CommentText } from './events.ts';
import { Followed } from './followed.ts';
import { Follower, type Outlet } from './follower.ts';
import { sseOutlet } from './sse.ts';
import { readChanges, readHeadSeqs } from './store.ts';

/** contract.md §5. */
const HEARTBEAT_MS = 15_000;
/** Open streams of one process; more are refused with UNAVAILABLE. */
const STREAMS_MAX = 20_000;

/** What hearing of it takes. */
export const NEED_OF: Readonly<Record<ChangeType, Need>> = {
  json: 'data:read',
  tables: 'data:read',
  blobs: 'data:read',
  comments: 'comment',
  documents: 'collab:read',
};

export interface ChangeHubDeps {
  readonly sql: Sql;
  readonly clock: Clock;
  readonly log: Log;
  readonly notices: ArtifactNotices;
  readonly access: AccessWatch;
  readonly runtime: { onCommitted(listener: CommitListener): void };
  readonly commentText: CommentText;
}

export interface FollowRequest {
  readonly types: readonly ChangeType[];
  readonly reserved: boolean;
  readonly sinceSeq: number | undefined;
}

export class ChangeHub {
  readonly #deps: ChangeHubDeps;
  readonly #followed = new Map<ArtifactId, Followed>();
  #streams = 0;
  #beat: Timer | undefined;

  constructor(deps: ChangeHubDeps) {
    this.#deps = deps;
    deps.runtime.onCommitted((id, changes) => this.#committed(id, changes));
    // Written behind its actor's back: what comes back reads what is there now.
    deps.notices.on(({ artifactId, kind }) => {
      if (kind === 'replaced') this.#followed.get(artifactId)?.each((follower) => follower.end());
    });
  }

  /** A stream of events that ends when its caller may not read any more. Throws UNAVAILABLE. */
  stream(artifactId: ArtifactId, principal: Principal, request: FollowRequest): ReplyStream {
    if (this.#streams >= STREAMS_MAX) throw new Failure('UNAVAILABLE', { message: 'Too many streams are open.', retryAfterS: 10 });
    return { endless: true, start: (sink) => this.#openStream(artifactId, principal, request, sink) };
  }

  /** A follower that begins at once. Whoever opens it tells it when the outlet has drained, and closes it. */
  follow(artifactId: ArtifactId, request: FollowRequest, outlet: Outlet, onClosed: () => void): Follower {
    const { clock, sql, commentText } = this.#deps;
    let followed = this.#followed.get(artifactId);
    if (followed === undefined) {
      followed = new Followed(artifactId, {
        clock,
        commentText,
        readStore: (id, wanted) => readChanges(sql, id, wanted, commentText),
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

  #openStream(artifactId: ArtifactId, principal: Principal, request: FollowRequest, sink: ReplySink): void {
    let follower: Follower | undefined;
    const unwatch = this.#deps.access.watch(artifactId, principal, (now) => {
      if ('over' in now || !mayFollow(now.head, principal, request.types)) follower?.end();
      else if (follower !== undefined) follower.reserved = maySeeReserved(now.head, principal);
    });
    this.#streams += 1;
    const opened = this.follow(artifactId, request, sseOutlet(sink), () => {
      this.#streams -= 1;
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
    let seqs: ReadonlyMap<ArtifactId, number> = new Map();
    try {
      seqs = await readHeadSeqs(this.#deps.sql, [...this.#followed.keys()]);
    } catch (err) {
      this.#deps.log.warn({ err }, 'followers were not compared with the store; the next heartbeat tries again');
    }
    for (const [id, followed] of [...this.#followed]) followed.beat(seqs.get(id) ?? 0);
    this.#beat = this.#followed.size > 0 ? this.#deps.clock.after(HEARTBEAT_MS, () => void this.#heartbeat()) : undefined;
  }
}

export function mayFollow(head: ArtifactHead, principal: Principal, types: readonly ChangeType[]): boolean {
  return types.every((type) => decide(head, principal, NEED_OF[type], 'data:read') === 'allowed');
}

export function maySeeReserved(head: ArtifactHead, principal: Principal): boolean {
  const role = roleOf(head, principal);
  return role === 'owner' || role === 'editor';
}
