/** One document on one connection of protocol B: decides who the client is, holds its messages until then, and serves them afterwards. */
import { type ArtifactHead, letIn, type Principal } from '../../actors/access/access.ts';
import type { Clock, Log, Timer } from '../../actors/runtime/ports.ts';
import { CLOSE, type CloseCode } from '../../protocol/core/close-codes.ts';
import { Failure } from '../../protocol/core/errors.ts';
import type { ArtifactId } from '../../protocol/core/ids.ts';
import { LIMITS } from '../../protocol/core/limits.ts';
import { type AccessEnd, type AccessNow, failureOf, type OpenAccess } from '../edge/open-access.ts';
import type { Link } from '../edge/socket.ts';
import type { Identities, Identity } from '../features/people/identities/identities.ts';
import { applyUpdate } from './apply-update.ts';
import { type CollaborationScope, collaborationScope } from './collaboration-access.ts';
import type { Connections } from './connections.ts';
import type { Rooms, Seat } from './room-types.ts';
import { type DocumentMessage, frameAllowed, frameDenied, frameSyncStatus } from './wire.ts';

export interface HocuspocusDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly tokens: { authenticate(bearer: string): Principal | Promise<Principal> };
  readonly heads: { get(id: ArtifactId): ArtifactHead | Promise<ArtifactHead | null> };
  readonly watch: Pick<OpenAccess, 'watch'>;
  readonly identities: Pick<Identities, 'of'>;
  readonly rooms: Rooms;
  readonly connections: Pick<Connections, 'join'>;
  /** Globally unique. */
  readonly newSessionId: () => string;
}

/** The connection, which several documents share. */
export interface DocumentHost {
  readonly deps: HocuspocusDeps;
  readonly link: Link;
  readonly artifactId: ArtifactId;
  readonly network: string;
  readonly sessionId: string;
  /** The caller who opened the connection, or why the access of that caller has ended. */
  readonly opener: Principal | AccessEnd;
  /** Sends an answer. Where the link is full it is sent later, never dropped, because clients count answers. */
  send(frame: Uint8Array): void;
  /** The same for several frames at once, in their order. */
  acknowledge(frame: Uint8Array): void;
  close(code: CloseCode, reason: string): void;
  /** A caller on this connection may open a document, so its larger backlog applies. `version` of the client, where the client sends it. */
  known(principal: Principal, version: string | undefined): void;
  /** A document has been denied. */
  denied(): void;
  /** Counts a token that is to be checked. False after too many; then the connection is closed. */
  mayTry(): boolean;
  /** Counts a message that waits for its document. False where the backlog is full; then the connection is closed. */
  holdBack(bytes: number): boolean;
  /** Releases the backlog of a document. */
  letGo(bytes: number, messages: number): void;
}

/** A decided identity, and the access that it has. */
interface Grant {
  principal: Principal;
  readonly identity: Identity;
  scope: CollaborationScope;
  readonly unwatch: () => void;
}

/** The watch over the access of a principal. It begins before the decision, so that no change is missed while the identity is read. */
interface Watch {
  /** The access that was decided; undefined until then. */
  grant: Grant | undefined;
  /** What was told before the decision. */
  early: AccessNow | undefined;
  end: () => void;
}

/**
 * `waiting` for a token or for the result of its check; `open`; `denied` until another token comes; `ended`, with its address free again.
 * An open document stays open while another token is checked.
 */
type State = 'waiting' | 'open' | 'denied' | 'ended';

interface HeldBack {
  readonly message: DocumentMessage;
  readonly bytes: number;
}

interface Token {
  /** Empty for the caller who opened the connection. */
  readonly token: string;
  /** The client's version, where the client sends it. */
  readonly version: string | undefined;
  /** The client sent no token and may not need one. */
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
  /** Removes the client from the connected people. */
  #disconnect: (() => void) | undefined;
  #heldBack: HeldBack[] = [];
  /** The number of the current token check; results of earlier ones are ignored. */
  #attempt = 0;
  #isDeciding = false;
  #latest: Token | undefined;
  /** The client has not identified itself yet. */
  #isNameless = true;
  readonly #deadline: Timer;
  /** One of its changes was refused, and its later changes build on that one, so they are refused too. */
  #isDeaf = false;
  /** The link had no room for our Step1, which is sent once it has drained. */
  #owesStep1 = false;

  constructor(host: DocumentHost, address: string, name: string) {
    this.#host = host;
    this.#address = address;
    this.#name = name;
    this.#deadline = host.deps.clock.after(LIMITS.preAuthDeadlineMs, () => {
      if (this.#state === 'waiting' && this.#isNameless) this.#deny(new Failure('UNAUTHORIZED', { reason: 'missing' }));
    });
  }

  /** It is open, or may still be opened by a token that is being checked or awaited. */
  get isServed(): boolean {
    return this.#state === 'open' || this.#state === 'waiting';
  }

  /** `bytes` is the size of the message's frame. */
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

  /** Called when the connection closes or the client leaves the document. */
  end(): void {
    this.#leave('ended');
  }

  #holdBack(message: DocumentMessage, bytes: number): void {
    if (!this.#host.holdBack(bytes)) return;
    this.#heldBack.push({ message, bytes });
    // Providers of version 2 without a token begin with this message; the identity of the connection then counts.
    if (message.kind === 'step1' && this.#isNameless && this.#attempt === 0) this.#try(NO_TOKEN);
  }

  /** Checks one token at a time, and after it only the newest of those that arrived meanwhile. */
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
    try {
      const principal = await this.#principal(token);
      const grant = await this.#granted(principal, attempt);
      if (grant === undefined) return;
      const { identity } = grant;
      this.#grant?.unwatch();
      const before = this.#grant;
      this.#grant = grant;
      this.#host.known(principal, version);
      if (attempt !== this.#attempt) return;
      if (this.#seat !== undefined && before?.identity.id === identity.id) {
        this.#say(grant.scope);
        return;
      }
      // The identity changes here. Changes between the two seats are sent again.
      const hadSeat = this.#stand();
      const seat = await this.#sit(grant);
      if (attempt !== this.#attempt) {
        seat.leave();
        return;
      }
      this.#open(seat, grant);
      if (hadSeat) seat.requested({ stateVector: EMPTY_VECTOR });
    } catch (error) {
      if (attempt === this.#attempt) this.#notEntered(error, isImplied);
    }
  }

  async #principal(token: string): Promise<Principal> {
    const { deps, artifactId } = this.#host;
    if (token === '') return openerOf(this.#host);
    const principal = await deps.tokens.authenticate(token);
    const { opener } = this.#host;
    // The access from the cookies of the page's own host stays valid beside that of the token.
    if (typeof opener === 'string' || opener.kind === 'agent' || opener.letInto !== artifactId) return principal;
    return letIn(principal, { artifactId, expiresAtMs: opener.expiresAtMs ?? Number.POSITIVE_INFINITY });
  }

  /** Undefined where another token came meanwhile. */
  async #granted(principal: Principal, attempt: number): Promise<Grant | undefined> {
    const { deps, artifactId, sessionId } = this.#host;
    const watch = this.#watch(principal);
    try {
      const identity = await deps.identities.of(principal, sessionId);
      const read = await deps.heads.get(artifactId);
      if (attempt !== this.#attempt) return undefined;
      const { early } = watch;
      if (early !== undefined && 'over' in early) throw failureOf(early.over);
      const now = early?.principal ?? principal;
      const scope = collaborationScope(early?.head ?? read, now);
      watch.grant = { principal: now, identity, scope, unwatch: watch.end };
      return watch.grant;
    } finally {
      if (watch.grant === undefined) watch.end();
    }
  }

  #watch(principal: Principal): Watch {
    const watch: Watch = { grant: undefined, early: undefined, end: () => undefined };
    watch.end = this.#host.deps.watch.watch(this.#host.artifactId, principal, (now) => {
      const { grant } = watch;
      if (grant === undefined) watch.early = now;
      else if (this.#grant !== grant) return;
      else if ('over' in now) this.#over(now.over);
      else this.#decideAgain(grant, now.head, now.principal);
    });
    return watch;
  }

  #sit({ principal, identity }: Grant): Seat | Promise<Seat> {
    const { deps, artifactId, link, network } = this.#host;
    const over = () => this.#host.close(CLOSE.moved, 'the artifact has moved');
    return deps.rooms.join(artifactId, this.#name, { link, address: this.#address, network, principal, identity, over });
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

  /** The identity could not be decided, it has no access, or the document cannot be loaded now. */
  #notEntered(error: unknown, isImplied = false): void {
    if (error instanceof Failure && !AWAY.has(error.code)) {
      // Without access of its own the connection may still be waiting for the token.
      if (!isImplied || this.#grant !== undefined) this.#deny(error);
      return;
    }
    this.#comeBack(error);
  }

  #decideAgain(grant: Grant, head: ArtifactHead, principal: Principal): void {
    const before = grant.scope;
    grant.principal = principal;
    try {
      grant.scope = collaborationScope(head, grant.principal);
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      this.#deny(error);
      return;
    }
    if (this.#state !== 'open' || grant.scope === before) return;
    this.#say(grant.scope);
    // The answer includes changes that the link dropped meanwhile.
    if (grant.scope === 'read-write' && this.#seat !== undefined) this.#askFor(this.#seat);
  }

  #over(over: AccessEnd): void {
    if (over === 'undecided') this.#host.close(CLOSE.moved, 'access has to be decided again');
    else this.#deny(failureOf(over));
  }

  #perform(message: DocumentMessage): void {
    const seat = this.#seat;
    if (seat === undefined) return;
    switch (message.kind) {
      case 'step1':
        // We ask each time that we answer, because a client that syncs again waits for the acknowledgement of its own answer.
        seat.requested({ stateVector: message.stateVector, before: () => this.#askFor(seat) });
        break;
      case 'step2':
      case 'update':
        this.#change(seat, message);
        break;
      case 'awareness':
        seat.awareness(message.states);
        break;
      case 'queryAwareness':
        seat.requested({ awareness: true });
        break;
      // Stateless messages are for applications with a server of their own and have no receiver here. The other kinds are handled earlier.
      case 'stateless':
      case 'token':
      case 'close':
      case 'unexpected':
        break;
      default:
        message satisfies never;
    }
  }

  /** Without this request the client would wait for the status of an answer that it never sends. */
  #askFor(seat: Seat): void {
    this.#owesStep1 = !seat.sendStep1();
  }

  /** Sends exactly one status for each update, because the client decrements its count of unsynced changes for each. */
  #change(seat: Seat, arrived: Extract<DocumentMessage, { kind: 'step2' | 'update' }>): void {
    const { kind, update } = arrived;
    // The client does not count an answer that it gives without having asked itself.
    const isCounted = kind === 'update' || !seat.answered();
    if (this.#isDeaf || this.#grant?.scope !== 'read-write') {
      this.#acknowledge(kind === 'step2' && seat.holds(update));
      return;
    }
    const taken = () => {
      if (this.#seat === seat && isCounted) this.#acknowledge(true);
    };
    const notTaken = (error: unknown) => {
      if (this.#seat === seat) this.#notTaken(error);
    };
    applyUpdate(seat, arrived, taken, notTaken);
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

  /** The outcome is unknown or the document is unavailable, so the connection closes and the client syncs again when it reconnects. */
  #comeBack(error: unknown): void {
    if (!(error instanceof Failure)) this.#log(error, 'a document could not be opened');
    const isMoved = error instanceof Failure && error.code === 'OWNER_MOVED';
    this.#host.close(isMoved ? CLOSE.moved : CLOSE.overloaded, 'the document cannot be loaded now');
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

  /** Denies the document until another token comes. The connection stays open, because a client that is disconnected reconnects and asks again. */
  #deny({ code, message }: Failure): void {
    this.#leave('denied');
    this.#host.send(frameDenied(`${code}: ${message}`, this.#address));
    this.#host.denied();
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

  /** Returns whether it had a seat. */
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

/** Throws UNAUTHORIZED or ARTIFACT_NOT_FOUND where the access of the caller who opened the connection has ended. */
function openerOf({ opener }: DocumentHost): Principal {
  if (typeof opener === 'string') throw failureOf(opener);
  return opener;
}
