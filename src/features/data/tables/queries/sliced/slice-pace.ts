/** How large the slices of one read are, and how long all of them together may take. */
import { Failure } from '../../../../../../protocol/core/errors.ts';
import type { ReadWeight } from '../read-weight.ts';

export interface PaceSettings {
  /** What a slice should take: others wait for it. */
  readonly sliceMs: number;
  /** What all slices of a read may take in the database; beyond it QUERY_TOO_EXPENSIVE. */
  readonly readMsMax: number;
  /** Tests make slices smaller. */
  readonly sliceRowsMax: number;
}

export interface SliceBounds {
  readonly rows: number;
  /** The slice ends with the row that exceeds it. */
  readonly bytes: number;
}

// The estimate is one from above; a slice that was quick makes the next ones larger, up to where a row unlike those before it is still bearable.
const SCALE_MAX = 6;
const SCALE_MIN = 1 / 32;
const GROWTH_MAX = 2;
const SHRINKING_MAX = 1 / 8;
/** Planning a statement, which its own time leaves out. */
const PLANNING_MS = 1;
/** Looking up and comparing a row that is kept from slice to slice. */
const KEPT_ROW_NS = 12_000;
const NS_PER_MS = 1_000_000;

export class SlicePace {
  readonly #settings: PaceSettings;
  #spentMs = 0;
  #scale = 1;

  constructor(settings: PaceSettings) {
    this.#settings = settings;
  }

  bounds({ rowNs, byteNs }: ReadWeight): SliceBounds {
    const { sliceMs, sliceRowsMax } = this.#settings;
    const sliceNs = sliceMs * NS_PER_MS * this.#scale;
    return {
      rows: Math.max(1, Math.min(sliceRowsMax, Math.floor(sliceNs / rowNs))),
      bytes: Math.max(1, Math.floor(sliceNs / byteNs)),
    };
  }

  /** The bytes that rows which are read again with every slice may have. */
  keptBytes({ byteNs }: ReadWeight): number {
    return Math.floor((this.#settings.sliceMs * NS_PER_MS) / byteNs);
  }

  /** Counts what a statement took. `keptRows`: those it has read again, whatever the size of the slice. Throws QUERY_TOO_EXPENSIVE. */
  took(ms: number, keptRows = 0): void {
    this.#spentMs += ms + PLANNING_MS;
    if (this.#spentMs > this.#settings.readMsMax) throw new Failure('QUERY_TOO_EXPENSIVE');
    const ownMs = Math.max(ms - (keptRows * KEPT_ROW_NS) / NS_PER_MS, 0.1);
    const change = Math.min(GROWTH_MAX, Math.max(SHRINKING_MAX, this.#settings.sliceMs / ownMs));
    this.#scale = Math.min(SCALE_MAX, Math.max(SCALE_MIN, this.#scale * change));
  }
}
