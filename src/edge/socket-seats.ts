/** Seats of WebSockets: those of callers with access, and a small pool for those who have yet to prove it. */
import type { Principal } from '../../actors/access/access.ts';
import { Failure } from '../../protocol/core/errors.ts';
import type { ArtifactId } from '../../protocol/core/ids.ts';
import type { ConnectionCaps } from '../platform/descriptors.ts';
import { type Exhausted, type Holders, type Refusals, Shares } from '../platform/shares.ts';
import { networkOf } from './address.ts';

/** How much of an artifact's seats one network may have. */
const NETWORK_AT_ARTIFACT = 0.8;
/** A client proves its access with its first frames. One that has not for this long gives way where its pool is full. */
const YIELDS_AFTER_MS = 1000;
const RETRY_AFTER_S = 5;

/** A socket, or an upgrade that is admitted. */
export interface Sitter {
  readonly artifactId: ArtifactId;
  readonly address: string;
  /** Who has proved access; undefined where nobody has. */
  principal: Principal | undefined;
  readonly sinceMs: number;
  /** Closes the socket, because it has to give way. False where it cannot be closed now. */
  giveWay(): boolean;
}

export interface SeatsDeps {
  readonly caps: Pick<ConnectionCaps, 'sockets' | 'unproven'>;
  readonly refusals: Refusals;
}

export class SocketSeats {
  readonly #proven: Shares;
  /** Keyed by artifact and network, which `Shares` knows as one holder. */
  readonly #atArtifact: Shares;
  readonly #unproven: Shares;
  /** In the order in which they came. */
  readonly #yielding = new Set<Sitter>();
  readonly #refusals: Refusals;

  constructor({ caps, refusals }: SeatsDeps) {
    const { total, artifact } = caps.sockets;
    this.#proven = new Shares(caps.sockets);
    this.#atArtifact = new Shares({ total, network: Math.ceil(artifact * NETWORK_AT_ARTIFACT), caller: total, artifact: total });
    this.#unproven = new Shares(caps.unproven);
    this.#refusals = refusals;
  }

  get proven(): number {
    return this.#proven.total;
  }

  get unproven(): number {
    return this.#unproven.total;
  }

  /** Throws UNAVAILABLE where there is no seat. */
  take(sitter: Sitter, nowMs: number): void {
    const exhausted = sitter.principal === undefined ? this.#takeUnproven(sitter, nowMs) : this.#takeProven(sitter);
    if (exhausted === undefined) return;
    this.#refusals.refused(sitter.principal === undefined ? 'unproven sockets' : 'sockets', exhausted);
    throw new Failure('UNAVAILABLE', { message: MESSAGES[exhausted], retryAfterS: RETRY_AFTER_S });
  }

  /** Moves a socket to the seats of callers with access. False where there is none; then it has to close. */
  prove(sitter: Sitter, principal: Principal): boolean {
    if (sitter.principal !== undefined) return true;
    const exhausted = this.#takeProven({ ...sitter, principal });
    if (exhausted !== undefined) {
      this.#refusals.refused('sockets', exhausted);
      return false;
    }
    this.#leaveUnproven(sitter);
    sitter.principal = principal;
    return true;
  }

  leave(sitter: Sitter): void {
    if (sitter.principal === undefined) {
      this.#leaveUnproven(sitter);
      return;
    }
    this.#proven.give(1, holdersOf(sitter));
    this.#atArtifact.give(1, pairOf(sitter));
  }

  /** For a connection about whose caller another node decides. Throws UNAVAILABLE. */
  takeRelayed(holders: Holders): void {
    const exhausted = this.#proven.take(1, holders);
    if (exhausted === undefined) return;
    this.#refusals.refused('sockets', exhausted);
    throw new Failure('UNAVAILABLE', { message: MESSAGES[exhausted], retryAfterS: RETRY_AFTER_S });
  }

  leaveRelayed(holders: Holders): void {
    this.#proven.give(1, holders);
  }

  #takeProven(sitter: Pick<Sitter, 'artifactId' | 'address' | 'principal'>): Exhausted | undefined {
    const exhausted = this.#atArtifact.exhausted(1, pairOf(sitter)) ?? this.#proven.take(1, holdersOf(sitter));
    if (exhausted === undefined) this.#atArtifact.take(1, pairOf(sitter));
    return exhausted;
  }

  #takeUnproven(sitter: Sitter, nowMs: number): Exhausted | undefined {
    const holders = holdersOf(sitter);
    let exhausted = this.#unproven.take(1, holders);
    // A network that has used up its share waits; the others must not wait for it.
    if ((exhausted === 'artifact' || exhausted === 'total') && this.#makeRoom(sitter, exhausted, nowMs)) {
      exhausted = this.#unproven.take(1, holders);
    }
    if (exhausted === undefined) this.#yielding.add(sitter);
    return exhausted;
  }

  #makeRoom({ artifactId }: Sitter, exhausted: 'artifact' | 'total', nowMs: number): boolean {
    for (const oldest of this.#yielding) {
      if (nowMs - oldest.sinceMs < YIELDS_AFTER_MS) return false;
      if ((exhausted === 'total' || oldest.artifactId === artifactId) && oldest.giveWay()) return true;
    }
    return false;
  }

  #leaveUnproven(sitter: Sitter): void {
    if (this.#yielding.delete(sitter)) this.#unproven.give(1, holdersOf(sitter));
  }
}

const MESSAGES: Readonly<Record<Exhausted, string>> = {
  total: 'Too many WebSockets are open.',
  network: 'Too many WebSockets of this network are open.',
  caller: 'Too many WebSockets with this credential are open.',
  artifact: 'Too many WebSockets of this artifact are open.',
};

export function holdersOf({ address, principal, artifactId }: Pick<Sitter, 'artifactId' | 'address' | 'principal'>): Holders {
  const caller = principal === undefined || principal.kind === 'anonymous' ? undefined : principal.tokenId;
  return { network: networkOf(address), caller, artifact: artifactId };
}

function pairOf({ artifactId, address }: Pick<Sitter, 'artifactId' | 'address'>): Holders {
  return { network: `${artifactId} ${networkOf(address)}` };
}
