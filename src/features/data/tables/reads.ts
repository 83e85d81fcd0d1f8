/** Reads of tables, limited in time and in number, so that neither an artifact nor a caller takes the reads of all others. */
import type { Principal } from '../../../../actors/access/access.ts';
import { Failure } from '../../../../protocol/core/errors.ts';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import { networkOf } from '../../../edge/address.ts';
import { type Holders, Shares } from '../../../platform/shares.ts';
import { type Sql, sqlState } from '../../../storage/sql.ts';
import { type RowReads, wholeReads } from './queries/row-reads.ts';
import { SlicedReads } from './queries/sliced/sliced-reads.ts';

const QUERY_CANCELED = '57014';

/** A slice of a read on the embedded database: every other statement waits for it. */
const SLICE_MS = 10;

export interface ReadHolders extends Holders {
  readonly artifact: string;
}

interface Waiting {
  readonly holders: ReadHolders;
  readonly start: () => void;
}

export class TableReads {
  readonly #open: () => RowReads;
  readonly #running = new Shares({
    total: LIMITS.tableReadsMax,
    network: LIMITS.callerReadsMax,
    caller: LIMITS.callerReadsMax,
    artifact: LIMITS.artifactReadsMax,
  });
  readonly #waitingShares = new Shares({
    total: LIMITS.tableReadsWaitingMax,
    network: LIMITS.callerReadsWaitingMax,
    caller: LIMITS.callerReadsWaitingMax,
    artifact: LIMITS.artifactReadsWaitingMax,
  });
  /** In the order in which they came. */
  readonly #waiting = new Set<Waiting>();

  /** `open`: makes the reads of one call. */
  constructor(open: () => RowReads) {
    this.#open = open;
  }

  /** Runs a read when its holders have a free slot. Rejects with UNAVAILABLE if too many are waiting, with QUERY_TOO_EXPENSIVE if it takes too long. */
  async run<T>(holders: ReadHolders, read: (reads: RowReads) => Promise<T>): Promise<T> {
    if (this.#running.take(1, holders) !== undefined) await this.#turn(holders);
    try {
      return await read(this.#open());
    } catch (error) {
      throw sqlState(error) === QUERY_CANCELED ? new Failure('QUERY_TOO_EXPENSIVE') : error;
    } finally {
      this.#running.give(1, holders);
      this.#startNext();
    }
  }

  #turn(holders: ReadHolders): Promise<void> {
    const full = this.#waitingShares.take(1, holders);
    if (full !== undefined) {
      const whose = full === 'artifact' ? 'of this artifact ' : full === 'total' ? '' : 'of this caller ';
      throw new Failure('UNAVAILABLE', { message: `Too many table reads ${whose}are waiting.`, retryAfterS: 1 });
    }
    return new Promise((start) => this.#waiting.add({ holders, start }));
  }

  /** Of those with a share left, the network with the fewest running reads comes first. */
  #startNext(): void {
    let next: Waiting | undefined;
    let fewest = Number.POSITIVE_INFINITY;
    for (const waiting of this.#waiting) {
      const running = waiting.holders.network === undefined ? 0 : this.#running.held('network', waiting.holders.network);
      if (running >= fewest || this.#running.exhausted(1, waiting.holders) !== undefined) continue;
      next = waiting;
      fewest = running;
    }
    if (next === undefined) return;
    this.#waiting.delete(next);
    this.#waitingShares.give(1, next.holders);
    this.#running.take(1, next.holders);
    next.start();
  }
}

/** The reads of an installation: on a server each statement times out, the embedded database is read in slices. */
export function rowReadsOf(sql: Sql, isEmbedded: boolean): () => RowReads {
  if (isEmbedded) {
    const settings = { sliceMs: SLICE_MS, readMsMax: LIMITS.tableReadMsMax, sliceRowsMax: LIMITS.tableRowsMax };
    return () => new SlicedReads(sql, settings);
  }
  const whole = wholeReads(sql);
  return () => whole;
}

export function readHolders(
  artifact: string,
  { principal, address }: { readonly principal: Principal; readonly address: string },
): ReadHolders {
  return { artifact, caller: callerOf(principal), network: networkOf(address) };
}

function callerOf(principal: Principal): string | undefined {
  switch (principal.kind) {
    case 'user':
      return principal.person.id;
    case 'agent':
      return principal.principalId;
    case 'guest':
      return principal.guestId;
    case 'anonymous':
      return undefined;
    default:
      return principal satisfies never;
  }
}
