/** The interface of a live document's room to the two collaboration protocols. A room holds every client of the document, whatever its protocol. */
import type { Principal } from '../../actors/access/access.ts';
import type { ArtifactId } from '../../protocol/core/ids.ts';
import type { Link } from '../edge/socket.ts';
import type { Identity } from '../features/people/identities/identities.ts';
import type { SyncRequest } from './sync-requests.ts';

/** A client of a document: a socket of protocol A, or one address on a socket of protocol B. */
export interface RoomMember {
  readonly link: Link;
  /** The prefix of every frame to it; undefined in protocol A. Several members may share a link, each with an address of its own. */
  readonly address: string | undefined;
  readonly principal: Principal;
  /** The network of the peer, as `networkOf` tells it. */
  readonly network?: string;
  readonly identity: Identity;
  /** The document is not served here any more, so the client must reconnect. Never called within a call of the member's own. */
  over(): void;
}

export interface Rooms {
  /**
   * Adds the member, which from then on gets the changes of others. Synchronous where the room is open. Throws or rejects
   * INVALID_DOCUMENT_NAME, DOCUMENT_LIMIT_EXCEEDED, ARTIFACT_NOT_FOUND, UNAVAILABLE or OWNER_MOVED.
   */
  join(artifactId: ArtifactId, document: string, member: RoomMember): Seat | Promise<Seat>;
}

/** A member's place in a room. Nothing is sent on a closed link. */
export interface Seat {
  /**
   * Applies the member's change and publishes it to the others. Returns (or resolves, after the commit) whether it held anything new.
   * Throws or rejects a Failure: UNAVAILABLE and OWNER_MOVED where the outcome is unknown, others where the change was refused, and with it
   * all later ones. `update` is kept: do not change it afterwards. `isAnswer`: it is a SyncStep2, everything that the member has and the
   * document lacks. An update that builds on missing ones settles when the member has sent those.
   */
  apply(update: Uint8Array, isAnswer?: boolean): boolean | Promise<boolean>;
  /** To be called for each SyncStep2, before `apply`. True where it answers a request that the room made by itself. */
  answered(): boolean;
  /** Whether the document already has everything in this update. */
  holds(update: Uint8Array): boolean;
  /** Asks the member for the changes that the server lacks. False where the link has no room for the request. */
  sendStep1(): boolean;
  /**
   * Answers what the member asks for: the changes that it lacks, the awareness states. Requests beyond its budget wait, and only the newest
   * of them is answered. A slow socket gets its answer after it has drained.
   */
  requested(request: SyncRequest): void;
  /** Sends the awareness states of all present clients; nothing where there are none. */
  sendAwareness(): void;
  /** Takes the body of the member's awareness message; states that it may not set are dropped. */
  awareness(states: Uint8Array): void;
  /** The link dropped a frame, so this member is behind. */
  skipped(): void;
  /** The link has drained. A member that is behind gets the difference at once. */
  drained(): void;
  /** Called once. Removes the member and its awareness states. */
  leave(): void;
}
