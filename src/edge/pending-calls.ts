/** The calls that are not over: their access is decided again while they are open, and they are answered when a dependency that they need is gone. */
import {
  type ArtifactHead,
  decide,
  isInstanceStaff,
  type Principal,
  roleOf,
  standingAt,
  standsOnPass,
  workspaceRoleOf,
} from '../../actors/access/access.ts';
import type { Clock } from '../../actors/runtime/ports.ts';
import type { Access, Need } from '../../protocol/core/endpoint.ts';
import type { Failure } from '../../protocol/core/errors.ts';
import type { ArtifactId } from '../../protocol/core/ids.ts';
import type { Exchange } from './exchange.ts';
import { type AccessEnd, type Admittance, failureOf, type OpenCall } from './open-access.ts';
import { refusalOf } from './refusals.ts';
import type { FolderSeat, WorkspaceSeat } from './subjects.ts';

/** How often credentials of open calls are compared with the time. */
const EXPIRY_LOOK_MS = 500;
/** `strike` answers a call at its second, so that a call that has just begun is not taken for one that hangs. */
const STRIKES_MAX = 2;

const WRITING: ReadonlySet<Need> = new Set(['data:write', 'collab:write', 'comment', 'comment:write', 'edit', 'manage', 'own', 'export']);

type ArtifactAccess = Extract<Access, { who: 'artifact' }>;
/** Runs while the call has no answer yet. */
type Answering = (failure: Failure) => void;

class PendingCall implements OpenCall {
  readonly exchange: Exchange;
  readonly #answer: Answering;
  /** `working` until it is answered; then its answer is `sending`. */
  #state: 'working' | 'sending' = 'working';
  #strikes = 0;
  /** Its index in the list of open calls. */
  at: number;

  constructor(exchange: Exchange, answer: Answering, at: number) {
    this.exchange = exchange;
    this.#answer = answer;
    this.at = at;
  }

  get caller(): Principal | undefined {
    return this.exchange.admittance?.principal;
  }

  get artifactId(): ArtifactId | undefined {
    return this.exchange.admittance?.artifactId;
  }

  /** False where it was answered already: the answer that comes now is dropped. */
  answered(): boolean {
    if (this.#state !== 'working') return false;
    this.#state = 'sending';
    return true;
  }

  decideAgain(head: ArtifactHead | undefined, principal: Principal | undefined): void {
    const { admittance } = this.exchange;
    if (admittance === undefined || principal === undefined) return;
    if (admittance.access.who === 'artifact') {
      if (head !== undefined) this.#decideArtifact(head, principal, admittance, admittance.access);
    } else if (admittance.access.who === 'instanceAdmin') {
      if (principal.kind !== 'user' || !principal.isAdmin) this.#refuse(failureOf('refused'));
    } else if (admittance.access.who === 'instanceStaff') {
      if (!isInstanceStaff(principal)) this.#refuse(failureOf('refused'));
    } else if (admittance.access.who === 'everybody' || (admittance.access.who === 'account' && admittance.access.ofStanding)) {
      // Only the handler knows what the caller's standing opens, so the caller has to ask again.
      if (admittance.reads) this.#refuse(failureOf('undecided'));
    } else if (admittance.seat !== undefined) {
      this.#decideSeat(admittance.seat, admittance.principal, principal);
    }
  }

  /** Something that was shared with the caller has ended. */
  standingEnded(nowMs: number): void {
    const { admittance } = this.exchange;
    if (admittance === undefined) return;
    const principal = standingAt(admittance.principal, nowMs);
    if (principal === admittance.principal) return;
    this.exchange.admittance = { ...admittance, principal };
    if (admittance.artifactId === undefined || admittance.head !== undefined) this.decideAgain(admittance.head, principal);
    else this.end('undecided');
  }

  /** A handler at work goes by the role that the caller had. */
  #decideSeat(seat: WorkspaceSeat | FolderSeat, before: Principal, now: Principal): void {
    const workspaceId = 'workspaceId' in seat ? seat.workspaceId : seat.id;
    if (workspaceId === null || workspaceRoleOf(before, workspaceId) === workspaceRoleOf(now, workspaceId)) return;
    this.#refuse(failureOf(workspaceRoleOf(now, workspaceId) === undefined ? 'refused' : 'undecided'));
  }

  #decideArtifact(head: ArtifactHead, principal: Principal, admittance: Admittance, access: ArtifactAccess): void {
    const { need } = access;
    const scope = access.scope ?? null;
    // A change of the artifact may have ended the pass, so only what the caller may do without it goes on.
    const decision = decide(head, standsOnPass(principal) ? withoutPass(principal) : principal, need, scope);
    // A handler at work may go by the role, such as whether the caller sees reserved keys.
    const isSame = this.#state === 'sending' || roleOf(head, principal) === admittance.role;
    if (decision === 'allowed' && isSame) return;
    if (decision === 'allowed' || standsOnPass(principal)) this.#refuse(failureOf('undecided'));
    else this.#refuse(refusalOf(decision, scope));
  }

  end(over: AccessEnd): void {
    this.#refuse(failureOf(over));
  }

  /** Counts how often a dependency was found to be gone while the call waited, and answers the call at the last strike. */
  strike(failure: Failure): void {
    if (this.#state !== 'working' || this.exchange.isReceiving) return;
    this.#strikes += 1;
    if (this.#strikes < STRIKES_MAX) return;
    this.exchange.refuse(failure);
    this.#answer(failure);
  }

  /**
   * A write that waits for its turn is refused there, and one that has had it gets its true answer: it was admitted in time. Everything else
   * is over at once.
   */
  #refuse(failure: Failure): void {
    const { exchange } = this;
    exchange.refuse(failure);
    if (this.#state === 'sending') exchange.drop();
    else if (exchange.isReceiving) exchange.endBody(failure);
    else if (exchange.admittance?.reads === true) this.#answer(failure);
  }
}

export class PendingCalls {
  readonly #clock: Clock;
  /** In no order. This is not a map, for the reason that `BodyIntake` gives. */
  readonly #open: PendingCall[] = [];
  #isLooking = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  open(): Iterable<PendingCall> {
    return this.#open;
  }

  /** `answer` answers the call before its handler does. */
  enter(exchange: Exchange, answer: Answering): PendingCall {
    const call = new PendingCall(exchange, answer, this.#open.length);
    this.#open.push(call);
    exchange.pending = call;
    if (!this.#isLooking) this.#lookLater();
    return call;
  }

  /** Called once the call is over. */
  leave(exchange: Exchange): void {
    const call = exchange.pending;
    if (!(call instanceof PendingCall)) return;
    exchange.pending = undefined;
    const last = this.#open.pop();
    if (last === undefined || last === call) return;
    this.#open[call.at] = last;
    last.at = call.at;
  }

  /** A dependency that calls wait for is gone. */
  strike(failure: Failure): void {
    for (const call of [...this.#open]) call.strike(failure);
  }

  #lookLater(): void {
    this.#isLooking = true;
    this.#clock.after(EXPIRY_LOOK_MS, () => this.#look());
  }

  #look(): void {
    this.#isLooking = false;
    const nowMs = this.#clock.nowMs();
    for (const call of [...this.#open]) {
      if (isExpired(call.caller, nowMs)) call.end('expired');
      else call.standingEnded(nowMs);
    }
    if (this.#open.length > 0) this.#lookLater();
  }
}

/** Whether the call changes something. Rules by workspace or folder have no need of their own. */
export function isWriting(method: string, access: Access, reads: boolean): boolean {
  if (reads || method === 'GET') return false;
  return access.who !== 'artifact' || WRITING.has(access.need);
}

function withoutPass(principal: Principal): Principal {
  if (principal.kind === 'agent') return principal;
  const { letInto: _, ...rest } = principal;
  return rest;
}

function isExpired(principal: Principal | undefined, nowMs: number): boolean {
  if (principal === undefined) return false;
  return principal.expiresAtMs !== null && principal.expiresAtMs !== undefined && principal.expiresAtMs <= nowMs;
}
