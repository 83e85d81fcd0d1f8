/** One document as one connection of protocol B has it: who is there, what waits for that, and what is sent and taken from then on. */
import { type ArtifactHead, letIn, type Principal } from '../../actors/access.ts';
import type { Clock, Log, Timer } from '../../actors/ports.ts';
import { CLOSE, type CloseCode } from '../../protocol/close-codes.ts';
import { Failure } from '../../protocol/errors.ts';
import type { ArtifactId } from '../../protocol/ids.ts';
import { LIMITS } from '../../protocol/limits.ts';
import type { Link } from '../edge/socket.ts';
import type { AccessEnd, AccessWatch } from '../services/access-watch.ts';
import type { Identities, Identity } from '../services/identities.ts';
import { type CollaborationScope, collaborationScope } from './collaboration-access.ts';
import type { Connections } from './connections.ts';
import type { Rooms, Seat } from './room-types.ts';
import { type DocumentMessage, frameAllowed, frameDenied, frameSyncStatus } from './wire.ts';

export interface HocuspocusDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly tokens: { authenticate(bearer: string): Principal | Promise<Principal> };
  readonly heads: { get(id: ArtifactId): ArtifactHead | Promise<ArtifactHead | null> };
  readonly watch: Pick<AccessWatch, 'watch'>;
  readonly identities: Pick<Identities, 'of'>;
  readonly rooms: Rooms;
  readonly connections: Pick<Connections, 'join'>;
  /** Unlike any other in the world. */
  readonly newSessionId: () => string;
}

/** The connection that several documents share. */
export interface DocumentHost {
  readonly deps: HocuspocusDeps;
  readonly link: Link;
  readonly artifactId: ArtifactId;
  readonly sessionId: string;
  /** Who opened the connection. */
  readonly caller: Principal;
  /** An answer: where the link is full it follows later, for a client counts them. */
  send(frame: Uint8Array): void;
  /** The same for what may come many at once, in their order. */
  acknowledge(frame: Uint8Array): void;
  close(code: CloseCode, reason: string): void;
  /** Somebody on this connection may open a document: more of what he sends may wait. `version`: of his client, where it tells that. */
  known(version: string | undefined): void;
  /** Enters a token that is to be looked at. False when too many came already; then the connection is closed. */
  mayTry(): boolean;
  /** Enters a message that waits for its document. False when there is no room; then the connection is closed. */
  holdBack(bytes: number): boolean;
  /** What was held back of a document does not wait any more. */
  letGo(bytes: number, messages: number): void;
}

/** Who is there, and what that opens. */
interface Grant {
  readonly principal: Principal;
  readonly identity: Identity;
  scope: CollaborationScope;
  readonly unwatch: () => void;
}

/**
 * `waiting` for a token, or for what the token opens; `open`; `denied`, until another token comes; `ended`: its address is free again.
 * A document that is open stays so while another token is looked at.
 */
type State = 'waiting' | 'open' | 'denied' | 'ended';

interface HeldBack {
  readonly message: DocumentMessage;
  readonly bytes: number;
}

interface Token {
  /** Empty: whoever opened the connection. */
  readonly token: string;
  /** Of the client, where it tells that. */
  readonly version: string | undefined;
  /** None came, and none may be needed. */
  readonly isImplied?: boolean;
}

const NO_TOKEN: Token = { token: '', version: undefined, isImplied: true };
const EMPTY_VECTOR = Uint8Array.of(0);
const AWAY = new Set(['UNAVAILABLE', 'OWNER_MOVED']);

export class DocumentSession {
  readonly #host: DocumentHost;
  readonly #address: string;
  readonly #name: string;
  #state: State = 'waiting';
  #grant: Grant | undefined;
  #seat: Seat | undefined;
  /** Ends what is told of who is connected. */
  #disconnect: (() => void) | undefined;
  #heldBack: HeldBack[] = [];
  /** Of the token that is looked at: where the document was left meanwhile, the answer comes too late. */
  #attempt = 0;
  #isDeciding = false;
  #latest: Token | undefined;
  /** Nothing has come so far that says who is there. */
  #isNameless = true;
  readonly #deadline: Timer;
  /** One of its changes was refused: those after it build upon what the server does not have. */
  #isDeaf = false;
  /** The link had no room for it. */
  #owesStep1 = false;

  constructor(host: DocumentHost, address: string, name: string) {
    this.#host = host;
    this.#address = address;
    this.#name = name;
    this.#deadline = host.deps.clock.after(LIMITS.preAuthDeadlineMs, () => {
      if (this.#state === 'waiting' && this.#isNameless) this.#deny(new Failure('UNAUTHORIZED', { reason: 'missing' }));
    });
  }

  /** `bytes` of the frame that it came in. */
  handle(message: DocumentMessage, bytes: number): void {
    if (message.kind === 'token') {
      if (!this.#host.mayTry()) return;
      this.#isNameless = false;
      this.#try(message);
      return;
    }
    if (this.#state === 'open') this.#perform(message);
    else if (this.#state === 'waiting') this.#holdBack(message, bytes);
  }

  skipped(): void {
    this.#seat?.skipped();
  }

  drained(): void {
    if (this.#seat === undefined) return;
    if (this.#owesStep1) this.#askFor(this.#seat);
    this.#seat.drained();
  }

  /** The connection or the client's part in this document is over. */
  end(): void {
    this.#leave('ended');
  }

  #holdBack(message: DocumentMessage, bytes: number): void {
    if (!this.#host.holdBack(bytes)) return;
    this.#heldBack.push({ message, bytes });
    // Providers of version 2 without a token begin with this: then the connection says who is there, if it can.
    if (message.kind === 'step1' && this.#isNameless && this.#attempt === 0) this.#try(NO_TOKEN);
  }

  /** One after the other; of those that come meanwhile the last. */
  #try(token: Token): void {
    this.#latest = token;
    if (!this.#isDeciding) void this.#decide();
  }

  async #decide(): Promise<void> {
    this.#isDeciding = true;
    for (let token = this.#latest; token !== undefined; token = this.#latest) {
      this.#latest = undefined;
      await this.#enter(token);
    }
    this.#isDeciding = false;
  }

  async #enter({ token, version, isImplied }: Token): Promise<void> {
    this.#attempt += 1;
    const attempt = this.#attempt;
    const { deps, artifactId, sessionId } = this.#host;
    try {
      const principal = await this.#principal(token);
      const identity = await deps.identities.of(principal, sessionId);
      const head = await deps.heads.get(artifactId);
      if (attempt !== this.#attempt) return;
      // Decided and watched in one turn: no change of the access falls between them.
      const grant = this.#watched(principal, identity, collaborationScope(head, principal));
      this.#grant?.unwatch();
      const before = this.#grant;
      this.#grant = grant;
      this.#host.known(version);
      if (this.#seat !== undefined && before?.identity.id === identity.id) {
        this.#say(grant.scope);
        return;
      }
      // Somebody else from here on: what happened between the two seats is sent anew.
      const hadSeat = this.#stand();
      const seat = await this.#sit(grant);
      if (attempt !== this.#attempt) {
        seat.leave();
        return;
      }
      this.#open(seat, grant);
      if (hadSeat) seat.sendStep2(EMPTY_VECTOR);
    } catch (error) {
      if (attempt === this.#attempt) this.#notEntered(error, isImplied);
    }
  }

  async #principal(token: string): Promise<Principal> {
    const { caller, deps, artifactId } = this.#host;
    if (token === '') return caller;
    const principal = await deps.tokens.authenticate(token);
    // What the page's own host has opened stays open beside the token.
    if (caller.kind === 'agent' || caller.letInto !== artifactId) return principal;
    return letIn(principal, { artifactId, expiresAtMs: caller.expiresAtMs ?? Number.POSITIVE_INFINITY });
  }

  #watched(principal: Principal, identity: Identity, scope: CollaborationScope): Grant {
    const unwatch = this.#host.deps.watch.watch(this.#host.artifactId, principal, (now) => {
      if (this.#grant !== grant) return;
      if ('over' in now) this.#over(now.over);
      else this.#decideAgain(grant, now.head);
    });
    const grant: Grant = { principal, identity, scope, unwatch };
    return grant;
  }

  #sit({ principal, identity }: Grant): Seat | Promise<Seat> {
    const { deps, artifactId, link } = this.#host;
    const over = () => this.#host.close(CLOSE.moved, 'the artifact has moved');
    return deps.rooms.join(artifactId, this.#name, { link, address: this.#address, principal, identity, over });
  }

  #open(seat: Seat, { identity, scope }: Grant): void {
    const { deps, artifactId } = this.#host;
    this.#seat = seat;
    this.#disconnect = deps.connections.join(artifactId, identity);
    this.#state = 'open';
    this.#deadline.cancel();
    this.#isDeaf = false;
    this.#say(scope);
    seat.sendAwareness();
    for (const { message } of this.#takeHeldBack()) this.#perform(message);
  }

  /** It could not be decided who is there, or nothing opens for him, or the document cannot be had now. */
  #notEntered(error: unknown, isImplied = false): void {
    if (error instanceof Failure && !AWAY.has(error.code)) {
      // A connection that opens nothing by itself may still be waiting for the token.
      if (!isImplied || this.#grant !== undefined) this.#deny(error);
      return;
    }
    this.#comeBack(error);
  }

  #decideAgain(grant: Grant, head: ArtifactHead): void {
    const before = grant.scope;
    try {
      grant.scope = collaborationScope(head, grant.principal);
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      this.#deny(error);
      return;
    }
    if (this.#state !== 'open' || grant.scope === before) return;
    this.#say(grant.scope);
    // What was refused meanwhile comes with the answer.
    if (grant.scope === 'read-write' && this.#seat !== undefined) this.#askFor(this.#seat);
  }

  #over(over: AccessEnd): void {
    if (over === 'undecided') this.#host.close(CLOSE.moved, 'access has to be decided anew');
    else if (over === 'gone') this.#deny(new Failure('ARTIFACT_NOT_FOUND'));
    else this.#deny(new Failure('UNAUTHORIZED', { reason: over }));
  }

  #perform(message: DocumentMessage): void {
    const seat = this.#seat;
    if (seat === undefined) return;
    switch (message.kind) {
      case 'step1':
        // Each time: a client that syncs again waits for the acknowledgement of its answer.
        this.#askFor(seat);
        seat.sendStep2(message.stateVector);
        break;
      case 'step2':
      case 'update':
        this.#change(seat, message);
        break;
      case 'awareness':
        seat.awareness(message.states);
        break;
      case 'queryAwareness':
        seat.sendAwareness();
        break;
      // Stateless messages are for applications with a server of their own; nobody listens here. The others do not come this far.
      case 'stateless':
      case 'token':
      case 'close':
      case 'unexpected':
        break;
      default:
        message satisfies never;
    }
  }

  /** Without this question the client would wait for the status of its answer. */
  #askFor(seat: Seat): void {
    this.#owesStep1 = !seat.sendStep1();
  }

  /** Exactly one status for each: the client counts what it has sent down by those that were taken. */
  #change(seat: Seat, { kind, update }: Extract<DocumentMessage, { kind: 'step2' | 'update' }>): void {
    if (this.#isDeaf || this.#grant?.scope !== 'read-write') {
      this.#acknowledge(kind === 'step2' && seat.holds(update));
      return;
    }
    const taken = () => {
      if (this.#seat === seat) this.#acknowledge(true);
    };
    const notTaken = (error: unknown) => {
      if (this.#seat === seat) this.#notTaken(error);
    };
    try {
      const outcome = seat.apply(update);
      if (outcome instanceof Promise) outcome.then(taken, notTaken);
      else taken();
    } catch (error) {
      notTaken(error);
    }
  }

  #notTaken(error: unknown): void {
    if (error instanceof Failure && AWAY.has(error.code)) {
      this.#comeBack(error);
      return;
    }
    if (!(error instanceof Failure)) this.#log(error, 'an update of a document failed');
    this.#isDeaf = true;
    this.#acknowledge(false);
  }

  /** Nobody knows what became of it, or it cannot be had now: the client syncs again when it is back. */
  #comeBack(error: unknown): void {
    if (!(error instanceof Failure)) this.#log(error, 'a document could not be opened');
    const isMoved = error instanceof Failure && error.code === 'OWNER_MOVED';
    this.#host.close(isMoved ? CLOSE.moved : CLOSE.overloaded, 'the document cannot be had now');
  }

  #log(err: unknown, what: string): void {
    this.#host.deps.log.error({ err, artifactId: this.#host.artifactId }, what);
  }

  #acknowledge(taken: boolean): void {
    this.#host.acknowledge(frameSyncStatus(taken, this.#address));
  }

  #say(scope: CollaborationScope): void {
    this.#host.send(frameAllowed(scope, this.#address));
  }

  /** For good, until another token comes. The connection stays: without it the client would come back and ask again. */
  #deny({ code, message }: Failure): void {
    this.#leave('denied');
    this.#host.send(frameDenied(`${code}: ${message}`, this.#address));
  }

  #leave(state: 'denied' | 'ended'): void {
    if (state === 'ended') this.#latest = undefined;
    this.#attempt += 1;
    this.#state = state;
    this.#deadline.cancel();
    this.#grant?.unwatch();
    this.#grant = undefined;
    this.#stand();
    this.#takeHeldBack();
  }

  /** Whether it had a seat. */
  #stand(): boolean {
    const seat = this.#seat;
    this.#seat = undefined;
    this.#disconnect?.();
    this.#disconnect = undefined;
    seat?.leave();
    if (this.#state === 'open') this.#state = 'waiting';
    return seat !== undefined;
  }

  #takeHeldBack(): readonly HeldBack[] {
    const held = this.#heldBack;
    this.#heldBack = [];
    const bytes = held.reduce((sum, each) => sum + each.bytes, 0);
    this.#host.letGo(bytes, held.length);
    return held;
  }
}
