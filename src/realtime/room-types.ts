/** What the two collaboration protocols see of the room of a live document: everybody who has it open, whichever protocol they speak. */
import type { Principal } from '../../actors/access.ts';
import type { ArtifactId } from '../../protocol/ids.ts';
import type { Link } from '../edge/socket.ts';
import type { Identity } from '../services/identities.ts';

/** One who has a document open: a socket of protocol A, or one address on a socket of protocol B. */
export interface RoomMember {
  readonly link: Link;
  /** What every frame to it begins with; undefined in protocol A. Several members may share a link, each with an address of its own. */
  readonly address: string | undefined;
  readonly principal: Principal;
  readonly identity: Identity;
  /** The document is not served here any more: whoever is connected must come back. Never told within a call of the member's own. */
  over(): void;
}

export interface Rooms {
  /**
   * From then on the member gets what others do. At once where the room is there. Throws or rejects INVALID_DOCUMENT_NAME,
   * DOCUMENT_LIMIT_EXCEEDED, ARTIFACT_NOT_FOUND, UNAVAILABLE or OWNER_MOVED.
   */
  join(artifactId: ArtifactId, document: string, member: RoomMember): Seat | Promise<Seat>;
}

/** A member's place in a room. Nothing is sent on a link that is not open. */
export interface Seat {
  /**
   * Applies what the member has changed; others are told at once. Answers (or resolves, after the commit) whether it held anything new.
   * Throws or rejects a Failure: UNAVAILABLE and OWNER_MOVED where the outcome is unknown, others where it was refused, and with it all
   * that follows. `update` is kept.
   */
  apply(update: Uint8Array): boolean | Promise<boolean>;
  /** Whether the document has everything that this update holds. */
  holds(update: Uint8Array): boolean;
  /** Asks the member for what the server lacks. False where the link has no room for that. */
  sendStep1(): boolean;
  /** What a member with this state vector lacks. Where the socket is too slow for it now, it follows when the socket has drained. */
  sendStep2(stateVector: Uint8Array): void;
  /** Who is here. Nothing is sent where nobody is. */
  sendAwareness(): void;
  /** What the member says of itself, as it came; what it may not say is left out. */
  awareness(states: Uint8Array): void;
  /** The link has left out a frame: this member is behind. */
  skipped(): void;
  /** The link has sent everything: where the member is behind, it gets the difference at once. */
  drained(): void;
  /** Once. What it said of itself is taken back. */
  leave(): void;
}
