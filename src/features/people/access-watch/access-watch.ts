/**
 * The one place that ends every use of a principal: sockets, streams of events and calls whose body, turn or answer is under way. A fact on the
 * bus, or the time at which a credential expires, has each of them decided again.
 */
import { type ArtifactHead, type Principal, standsOnPass } from '../../../../actors/access/access.ts';
import type { Clock, Log, Timer } from '../../../../actors/runtime/ports.ts';
import type { ArtifactId, TokenId, UserId, WorkspaceId } from '../../../../protocol/core/ids.ts';
import type { AccessEnd, AccessListener, OpenAccess, OpenCall } from '../../../edge/open-access.ts';
import { type ArtifactFact, type Bus, type Fact, onArtifact } from '../../../platform/bus.ts';
import type { Standing } from '../persons/rows.ts';
import type { TokenService } from '../tokens/tokens.ts';
import { RecentFacts } from './recent-facts.ts';

/** A timer of Node holds 24 days at most and a token may live for years: the expiry is checked again every day. */
const EXPIRY_LOOK_MS = 24 * 3600 * 1000;

/** A head or an account that cannot be read within this time ends the access, because what was revoked is over within a second. */
const DECISION_MS = 700;

/** After facts may have been missed so many artifacts are read at once, so that callers do not wait for long behind them. */
const RESYNC_HEADS_AT_ONCE = 16;
/** What one query tells of so many tokens, or accounts. */
const RESYNC_ROWS = 500;

export interface AccessWatchDeps {
  readonly clock: Clock;
  /** For the deadline of a read: real time, whatever time the service runs on. */
  readonly ioClock: Clock;
  readonly log: Log;
  readonly bus: Bus;
  readonly heads: { get(id: ArtifactId): ArtifactHead | Promise<ArtifactHead | null> };
  readonly tokens: Pick<TokenService, 'standingsOf' | 'endedOf'>;
}

interface Watching {
  readonly artifactId: ArtifactId;
  /** With what its account stands for now. */
  principal: Principal;
  readonly listener: AccessListener;
  /** The number of the fact whose reading `principal` has. */
  standingNo: number;
  expiry: Timer | undefined;
}

/** Accounts that are being read. Outdated: there was another fact about one of them meanwhile. */
interface Reading {
  readonly of: ReadonlySet<UserId>;
  isOutdated: boolean;
}

type Found = { readonly head: ArtifactHead } | { readonly over: AccessEnd };
/** Undefined where they could not be read. */
type Standings = ReadonlyMap<UserId, Standing>;

export class AccessWatch implements OpenAccess {
  readonly #deps: AccessWatchDeps;
  readonly #byArtifact = new Map<ArtifactId, Set<Watching>>();
  readonly #byToken = new Map<TokenId, Set<Watching>>();
  readonly #byUser = new Map<UserId, Set<Watching>>();
  readonly #recentTokens: RecentFacts<TokenId>;
  readonly #recentUsers: RecentFacts<UserId>;
  readonly #recentWorkspaces: RecentFacts<WorkspaceId>;
  readonly #calls: { open(): Iterable<OpenCall> }[] = [];
  /** The number of the last fact about each artifact that is being decided: a head that was read because of an earlier fact may be stale. */
  readonly #deciding = new Map<ArtifactId, number>();
  #facts = 0;
  readonly #readings = new Set<Reading>();

  constructor(deps: AccessWatchDeps) {
    this.#deps = deps;
    this.#recentTokens = new RecentFacts(deps.clock);
    this.#recentUsers = new RecentFacts(deps.clock);
    this.#recentWorkspaces = new RecentFacts(deps.clock);
    deps.bus.listen('access watch', {
      resync: () => this.#resync(),
      ...onArtifact(({ artifactId, kind }) => this.#changed(artifactId, kind)),
      'token.revoked': ({ tokenId }) => {
        this.#recentTokens.note(tokenId);
        this.#revoked(tokenId);
      },
      'person.changed': ({ userIds }) => {
        for (const id of userIds) this.#recentUsers.note(id);
        for (const reading of this.#readings) reading.isOutdated ||= userIds.some((id) => reading.of.has(id));
        return this.#peopleChanged(new Set(userIds));
      },
      'folder.changed': (fact) => this.#foldersChanged(fact),
      'workspace.changed': ({ workspaceId }) => {
        this.#recentWorkspaces.note(workspaceId);
        return this.#sharingChanged(workspaceId);
      },
    });
  }

  /** Ends when the returned function is called or `listener` is told that access is over. Call it in the turn that decided the access, so that no change is missed. */
  watch(artifactId: ArtifactId, principal: Principal, listener: AccessListener): () => void {
    const watching: Watching = { artifactId, principal, listener, standingNo: 0, expiry: undefined };
    this.#armExpiry(watching);
    add(this.#byArtifact, artifactId, watching);
    const tokenId = tokenOf(principal);
    if (tokenId !== undefined) add(this.#byToken, tokenId, watching);
    if (principal.kind === 'user') add(this.#byUser, principal.userId, watching);
    this.#checkBeginning(watching);
    return () => void this.#remove(watching);
  }

  /** A fact about the caller may have been told between the reading of the credential and now. */
  #checkBeginning({ principal }: Watching): void {
    const tokenId = tokenOf(principal);
    if (tokenId !== undefined) {
      // In a later turn: its caller does not expect to be told within this one.
      if (this.#recentTokens.has(tokenId)) queueMicrotask(() => this.#revoked(tokenId));
      else if (this.#recentTokens.mayAnybody()) void this.#endRevoked([tokenId]);
    }
    if (principal.kind !== 'user') return;
    const sharedBy = [...principal.person.grants.sharedBy];
    const isRecent = this.#recentUsers.may(principal.userId) || sharedBy.some((id) => this.#recentWorkspaces.may(id));
    if (isRecent) void this.#peopleChanged(new Set([principal.userId]));
  }

  attend(calls: { open(): Iterable<OpenCall> }): void {
    this.#calls.push(calls);
  }

  #armExpiry(watching: Watching): void {
    const { principal } = watching;
    const credentialEndMs = principal.expiresAtMs || Infinity;
    const endMs = Math.min(credentialEndMs, principal.kind === 'user' ? principal.person.grants.endMs : Infinity);
    watching.expiry?.cancel();
    watching.expiry = undefined;
    if (endMs === Infinity) return;
    const leftMs = endMs - this.#deps.clock.nowMs();
    watching.expiry = this.#deps.clock.after(Math.max(0, Math.min(leftMs, EXPIRY_LOOK_MS)), () => {
      if (leftMs > EXPIRY_LOOK_MS) this.#armExpiry(watching);
      else if (endMs === credentialEndMs) this.#end(watching, 'expired');
      else if (principal.kind === 'user') void this.#peopleChanged(new Set([principal.userId]));
    });
  }

  /** False when it had ended already. */
  #remove(watching: Watching): boolean {
    watching.expiry?.cancel();
    if (!remove(this.#byArtifact, watching.artifactId, watching)) return false;
    const tokenId = tokenOf(watching.principal);
    if (tokenId !== undefined) remove(this.#byToken, tokenId, watching);
    if (watching.principal.kind === 'user') remove(this.#byUser, watching.principal.userId, watching);
    return true;
  }

  #end(watching: Watching, over: AccessEnd): void {
    if (this.#remove(watching)) watching.listener({ over });
  }

  /** Copied, because ending a call changes the list of open ones. */
  #openCalls(isMeant: (call: OpenCall) => boolean): OpenCall[] {
    const meant: OpenCall[] = [];
    for (const calls of this.#calls) for (const call of calls.open()) if (isMeant(call)) meant.push(call);
    return meant;
  }

  async #changed(id: ArtifactId, kind: ArtifactFact['kind']): Promise<void> {
    const isOpen = this.#byArtifact.has(id) || this.#openCalls(({ artifactId }) => artifactId === id).length > 0;
    if (!isOpen) return;
    this.#facts += 1;
    const fact = this.#facts;
    this.#deciding.set(id, fact);
    const now = kind === 'artifact.gone' ? ({ over: 'gone' } as const) : await this.#read(id);
    // A later fact has begun a read of its own.
    if (this.#deciding.get(id) !== fact) return;
    this.#deciding.delete(id);
    for (const watching of [...(this.#byArtifact.get(id) ?? [])]) {
      if ('head' in now && standsOnPass(watching.principal)) this.#end(watching, 'undecided');
      else this.#tell(watching, now);
    }
    for (const call of this.#openCalls(({ artifactId }) => artifactId === id)) {
      if ('over' in now) call.end(now.over);
      else call.decideAgain(now.head, call.caller);
    }
  }

  #tell(watching: Watching, now: Found): void {
    if (this.#byArtifact.get(watching.artifactId)?.has(watching) !== true) return;
    if ('over' in now) this.#end(watching, now.over);
    else watching.listener({ head: now.head, principal: watching.principal });
  }

  /** What these accounts stand for is read again, and everything that they have open is decided with it. */
  async #peopleChanged(userIds: ReadonlySet<UserId>): Promise<void> {
    const isTheirs = ({ caller }: OpenCall) => caller?.kind === 'user' && userIds.has(caller.userId);
    const callers = this.#openCalls(isTheirs).flatMap(({ caller }) => (caller?.kind === 'user' ? [caller.userId] : []));
    const open = new Set([...callers, ...[...userIds].filter((id) => this.#byUser.has(id))]);
    if (open.size === 0) return;
    const { standings, fact } = await this.#readStandings(open);
    const decisions = [...open].flatMap((id) => [
      ...[...(this.#byUser.get(id) ?? [])].map((watching) => this.#stands(watching, standings, fact)),
      ...this.#openCalls(({ caller }) => caller?.kind === 'user' && caller.userId === id).map((call) => this.#callStands(call, standings)),
    ]);
    await Promise.all(decisions);
  }

  /**
   * Read again where there was another fact meanwhile: a call that begins behind a suspension and its lifting must not end by what was read between
   * them. Not for longer than one read may take, so that a stream of facts holds up no decision.
   */
  async #readStandings(of: ReadonlySet<UserId>): Promise<{ readonly standings: Standings | undefined; readonly fact: number }> {
    const { ioClock, tokens } = this.#deps;
    const reading: Reading = { of, isOutdated: false };
    const begunMs = ioClock.monotonicMs();
    this.#readings.add(reading);
    try {
      for (;;) {
        reading.isOutdated = false;
        this.#facts += 1;
        const fact = this.#facts;
        const standings = await this.#inTime(() => tokens.standingsOf([...of]));
        if (!reading.isOutdated || ioClock.monotonicMs() - begunMs >= DECISION_MS) return { standings, fact };
      }
    } finally {
      this.#readings.delete(reading);
    }
  }

  async #stands(watching: Watching, standings: Standings | undefined, fact: number): Promise<void> {
    // A later fact has been read already.
    if (watching.standingNo > fact) return;
    const now = standingIn(standings, watching.principal);
    if ('over' in now) return this.#end(watching, now.over);
    watching.standingNo = fact;
    watching.principal = now.principal;
    this.#armExpiry(watching);
    this.#tell(watching, await this.#read(watching.artifactId));
  }

  async #callStands(call: OpenCall, standings: Standings | undefined): Promise<void> {
    if (call.caller === undefined) return;
    const now = standingIn(standings, call.caller);
    if ('over' in now) return call.end(now.over);
    const head = call.artifactId === undefined ? undefined : await this.#read(call.artifactId);
    if (head !== undefined && 'over' in head) call.end(head.over);
    else call.decideAgain(head?.head, now.principal);
  }

  /** What a workspace may share with people outside can change with its plan and its features, and ends with it. */
  async #sharingChanged(workspaceId: WorkspaceId): Promise<void> {
    const isShared = (principal: Principal | undefined) => principal?.kind === 'user' && principal.person.grants.sharedBy.has(workspaceId);
    const callers = this.#openCalls(({ caller }) => isShared(caller)).flatMap(({ caller }) =>
      caller?.kind === 'user' ? [caller.userId] : [],
    );
    const watchers = [...this.#byUser].flatMap(([id, all]) => ([...all].some(({ principal }) => isShared(principal)) ? [id] : []));
    const meant = new Set([...callers, ...watchers]);
    if (meant.size > 0) await this.#peopleChanged(meant);
  }

  /** Only artifacts in such folders are decided again: the cache of heads has dropped no other. */
  async #foldersChanged({ workspaceId, ownerId }: Extract<Fact, { kind: 'folder.changed' }>): Promise<void> {
    const calls = this.#openCalls(({ artifactId }) => artifactId !== undefined);
    const open = new Set([...this.#byArtifact.keys(), ...calls.flatMap(({ artifactId }) => artifactId ?? [])]);
    const decide = async (id: ArtifactId) => {
      const now = await this.#read(id);
      if ('head' in now && (now.head.workspaceId !== workspaceId || (workspaceId === null && now.head.ownerId !== ownerId))) return;
      for (const watching of [...(this.#byArtifact.get(id) ?? [])]) this.#tell(watching, now);
      for (const call of this.#openCalls(({ artifactId }) => artifactId === id)) {
        if ('over' in now) call.end(now.over);
        else call.decideAgain(now.head, call.caller);
      }
    };
    await Promise.all([...open].map(decide));
  }

  /** Facts may have been missed, or may be from now until the next resync. Everything that is open is decided anew, part by part. */
  async #resync(): Promise<void> {
    for (const recent of [this.#recentTokens, this.#recentUsers, this.#recentWorkspaces]) recent.noteAnybody();
    const open = this.#openCalls(() => true);
    const callers = open.flatMap(({ caller }) => caller ?? []);
    const tokens = new Set([...this.#byToken.keys(), ...callers.flatMap((caller) => tokenOf(caller) ?? [])]);
    for (const part of partsOf(tokens, RESYNC_ROWS)) await this.#endRevoked(part);
    const users = new Set([...this.#byUser.keys(), ...callers.flatMap((caller) => (caller.kind === 'user' ? caller.userId : []))]);
    for (const part of partsOf(users, RESYNC_ROWS)) await this.#peopleChanged(new Set(part));
    const artifacts = new Set([...this.#byArtifact.keys(), ...open.flatMap(({ artifactId }) => artifactId ?? [])]);
    for (const part of partsOf(artifacts, RESYNC_HEADS_AT_ONCE)) {
      await Promise.all(part.map((id) => this.#changed(id, 'artifact.changed')));
    }
  }

  async #endRevoked(ids: readonly TokenId[]): Promise<void> {
    const ended = await this.#inTime(() => this.#deps.tokens.endedOf(ids));
    for (const id of ids) if (ended === undefined || ended.has(id)) this.#endToken(id, ended === undefined ? 'undecided' : 'revoked');
  }

  async #read(id: ArtifactId): Promise<Found> {
    const head = await this.#inTime(() => this.#deps.heads.get(id));
    if (head === undefined) return { over: 'undecided' };
    return head === null ? { over: 'gone' } : { head };
  }

  /** Undefined where it failed or took too long: access that cannot be checked is not continued. */
  async #inTime<T>(read: () => T | Promise<T>): Promise<T | undefined> {
    let deadline: Timer | undefined;
    const late = new Promise<never>((_, reject) => {
      deadline = this.#deps.ioClock.after(DECISION_MS, () => reject(new Error(`the access was not read within ${DECISION_MS} ms`)));
    });
    try {
      return await Promise.race([read(), late]);
    } catch (err) {
      this.#deps.log.warn({ err }, 'open calls, streams and sockets end because their access could not be checked');
      return undefined;
    } finally {
      deadline?.cancel();
    }
  }

  #revoked(tokenId: TokenId): void {
    this.#endToken(tokenId, 'revoked');
  }

  #endToken(tokenId: TokenId, over: AccessEnd): void {
    for (const watching of [...(this.#byToken.get(tokenId) ?? [])]) this.#end(watching, over);
    for (const call of this.#openCalls(({ caller }) => caller !== undefined && tokenOf(caller) === tokenId)) call.end(over);
  }
}

function* partsOf<Id>(ids: ReadonlySet<Id>, size: number): Generator<readonly Id[]> {
  const all = [...ids];
  for (let from = 0; from < all.length; from += size) yield all.slice(from, from + size);
}

function standingIn(
  standings: Standings | undefined,
  principal: Principal,
): { readonly principal: Principal } | { readonly over: AccessEnd } {
  if (principal.kind !== 'user') return { principal };
  if (standings === undefined) return { over: 'undecided' };
  const now = standings.get(principal.userId);
  return now === undefined ? { over: 'revoked' } : { principal: { ...principal, ...now } };
}

/** The credential whose revocation ends it. On a page's origin that is the session which it came from. */
function tokenOf(principal: Principal): TokenId | undefined {
  if (principal.kind === 'user' && principal.onPage !== undefined) return principal.onPage.sessionId;
  return principal.kind === 'anonymous' ? undefined : principal.tokenId;
}

function add<K>(map: Map<K, Set<Watching>>, key: K, watching: Watching): void {
  const known = map.get(key);
  if (known === undefined) map.set(key, new Set([watching]));
  else known.add(watching);
}

function remove<K>(map: Map<K, Set<Watching>>, key: K, watching: Watching): boolean {
  const known = map.get(key);
  if (known === undefined || !known.delete(watching)) return false;
  if (known.size === 0) map.delete(key);
  return true;
}
