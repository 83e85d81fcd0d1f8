/** How everything that stays open learns that the access of its caller has changed or ended. `AccessWatch` decides it for all of them. */
import type { ArtifactHead, Principal, Role } from '../../actors/access/access.ts';
import { CLOSE, type CloseCode } from '../../protocol/core/close-codes.ts';
import type { Access } from '../../protocol/core/endpoint.ts';
import { Failure } from '../../protocol/core/errors.ts';
import type { ArtifactId } from '../../protocol/core/ids.ts';
import type { FolderSeat, WorkspaceSeat } from './subjects.ts';

/**
 * Why access ends. `gone`: the artifact is deleted. `revoked`, `expired`: the caller's credential is. `undecided`: the caller has to connect
 * again, because a pass may have ended with the change or the head could not be read. `refused`: the caller has lost the right.
 */
export type AccessEnd = 'gone' | 'revoked' | 'expired' | 'undecided' | 'refused';
/** The artifact and its caller as they are now; the listener decides again with both, and from then on with this `principal`. */
export type AccessNow = { readonly head: ArtifactHead; readonly principal: Principal } | { readonly over: AccessEnd };
export type AccessListener = (now: AccessNow) => void;

/** What a call was admitted with. */
export interface Admittance {
  readonly principal: Principal;
  /** Undefined where the access rule names no artifact. */
  readonly artifactId: ArtifactId | undefined;
  /** The artifact as it was then. */
  readonly head?: ArtifactHead | undefined;
  readonly access: Access;
  readonly role: Role;
  /** Defined for rules by workspace or folder. */
  readonly seat: WorkspaceSeat | FolderSeat | undefined;
  /** It changes nothing: its answer can be replaced by a refusal at any time. */
  readonly reads: boolean;
}

/** A call that is not over: its body arrives, it waits for its turn, or its answer is being sent. */
export interface OpenCall {
  /** Undefined until the caller is known. */
  readonly caller: Principal | undefined;
  /** The artifact that the call was admitted to; undefined where its rule names none. */
  readonly artifactId: ArtifactId | undefined;
  /** `head` is undefined where the call was admitted to no artifact. */
  decideAgain(head: ArtifactHead | undefined, principal: Principal | undefined): void;
  end(over: AccessEnd): void;
}

export interface OpenAccess {
  /** For what stays open: sockets and streams of events. Call it in the turn that decided the access, so that no change is missed. */
  watch(artifactId: ArtifactId, principal: Principal, listener: AccessListener): () => void;
  /** For calls: these are decided again too. */
  attend(calls: { open(): Iterable<OpenCall> }): void;
}

/** The code that a socket is closed with. */
export function closeCodeOf(over: AccessEnd): CloseCode {
  switch (over) {
    case 'gone':
      return CLOSE.gone;
    case 'revoked':
    case 'expired':
      return CLOSE.unauthorized;
    case 'undecided':
      return CLOSE.moved;
    case 'refused':
      return CLOSE.revoked;
    default:
      return over satisfies never;
  }
}

/** The reason that a socket is closed with. */
export const ENDS: Readonly<Record<AccessEnd, string>> = {
  gone: 'The artifact is gone.',
  revoked: 'The token was revoked.',
  expired: 'The token has expired.',
  undecided: 'Reconnect to be authorised again.',
  refused: 'You may not do this any more.',
};

/** The answer of a call whose access has ended while it was open. */
export function failureOf(over: AccessEnd): Failure {
  switch (over) {
    case 'gone':
      return new Failure('ARTIFACT_NOT_FOUND');
    case 'revoked':
    case 'expired':
      return new Failure('UNAUTHORIZED', { reason: over });
    case 'undecided':
      return new Failure('UNAVAILABLE', { message: 'The access to this artifact has changed during the call.', retryAfterS: 1 });
    case 'refused':
      return new Failure('FORBIDDEN');
    default:
      return over satisfies never;
  }
}
