/** Reads of tables, limited in time and in number, so that neither an artifact nor a caller takes the reads of all others. */
import type { Principal } from '../../../../actors/access/access.ts';
import { Failure } from '../../../../protocol/core/errors.ts';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import { networkOf } from '../../../edge/address.ts';
import { ShareQueue } from '../../../platform/share-queue.ts';
import type { Holders } from '../../../platform/shares.ts';
import { type Sql, sqlState } from '../../../storage/sql.ts';
import { type RowReads, wholeReads } from './queries/row-reads.ts';
import { SlicedReads } from './queries/sliced/sliced-reads.ts';

const QUERY_CANCELED = '57014';

/** A slice of a read on the embedded database: every other statement waits for it. */
const SLICE_MS = 10;

export interface ReadHolders extends Holders {
  readonly artifact: string;
}

export class TableReads {
  readonly #open: () => RowReads;
  readonly #queue = new ShareQueue({
    running: {
      total: LIMITS.tableReadsMax,
      network: LIMITS.callerReadsMax,
      caller: LIMITS.callerReadsMax,
      artifact: LIMITS.artifactReadsMax,
    },
    waiting: {
      total: LIMITS.tableReadsWaitingMax,
      network: LIMITS.callerReadsWaitingMax,
      caller: LIMITS.callerReadsWaitingMax,
      artifact: LIMITS.artifactReadsWaitingMax,
    },
    full: (exhausted) => {
      const whose = exhausted === 'artifact' ? 'of this artifact ' : exhausted === 'total' ? '' : 'of this caller ';
      return new Failure('UNAVAILABLE', { message: `Too many table reads ${whose}are waiting.`, retryAfterS: 1 });
    },
  });

  /** `open`: makes the reads of one call. */
  constructor(open: () => RowReads) {
    this.#open = open;
  }

  /** Runs a read when its holders have a free slot. Rejects with UNAVAILABLE if too many are waiting, with QUERY_TOO_EXPENSIVE if it takes too long. */
  async run<T>(holders: ReadHolders, read: (reads: RowReads) => Promise<T>): Promise<T> {
    try {
      return await this.#queue.run(holders, () => read(this.#open()));
    } catch (error) {
      throw sqlState(error) === QUERY_CANCELED ? new Failure('QUERY_TOO_EXPENSIVE') : error;
    }
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

interface Calling {
  readonly principal: Principal;
  readonly address: string;
}

/** Of what is in no one artifact. */
export function callHolders({ principal, address }: Calling): Holders {
  return { caller: callerOf(principal), network: networkOf(address) };
}

export function readHolders(artifact: string, call: Calling): ReadHolders {
  return { artifact, ...callHolders(call) };
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
