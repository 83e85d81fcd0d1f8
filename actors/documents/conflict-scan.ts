/**
 * Bounds the search of Yjs for the place of an item that was inserted concurrently with others. Yjs compares it with all items between its
 * origins, so that an update made for the purpose, a few KB of items at one place, would hold the process for minutes. Items that people
 * type at once are compared with few others.
 */
import * as Y from 'yjs';

/** Steps of the search for the first value of a key, which cost as much as one comparison. */
const STEPS_PER_COMPARISON = 16;
/** Comparisons, each some 0.2 µs, that the documents of one artifact may make at once, and in each second after that. */
const BURST = 100_000;
const PER_SECOND = 20_000;

/** The document may have been changed in part. */
export class TooManyConflicts extends Error {
  override readonly name = 'TooManyConflicts';
  /** The update alone has used much of what the documents may ever use at once, so trying again does not help. */
  readonly isHopeless: boolean;

  constructor(isHopeless: boolean) {
    super('An update conflicts with too many items of the document.');
    this.isHopeless = isHopeless;
  }
}

/** The comparisons that the documents of one artifact may still make. */
export class ConflictBudget {
  readonly #nowMs: () => number;
  #left = BURST;
  #atMs: number;

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
    this.#atMs = nowMs();
  }

  /** Runs `apply`, which applies one update. Throws TooManyConflicts, or what `apply` throws. */
  within<T>(apply: () => T): T {
    guardYjs();
    const nowMs = this.#nowMs();
    this.#left = Math.min(BURST, this.#left + ((nowMs - this.#atMs) * PER_SECOND) / 1000);
    this.#atMs = nowMs;
    const scan: Scan = { left: this.#left, before: this.#left };
    const outer = running;
    running = scan;
    try {
      return apply();
    } finally {
      running = outer;
      this.#left = scan.left;
    }
  }
}

interface Scan {
  readonly before: number;
  left: number;
}

/** The update that is being applied; undefined while a document is loaded or merged elsewhere. */
let running: Scan | undefined;
let isGuarded = false;

type Integrate = (transaction: Y.Transaction, offset: number) => void;

/**
 * Yjs offers no hook at this point. The method is replaced once and not for each update, because every replacement makes V8 forget what it
 * has compiled for items.
 */
function guardYjs(): void {
  if (isGuarded) return;
  isGuarded = true;
  const prototype = Y.Item.prototype as unknown as { integrate: Integrate };
  const { integrate } = prototype;
  prototype.integrate = function (this: Y.Item, transaction, offset) {
    if (running !== undefined) spend(running, this, transaction, offset);
    integrate.call(this, transaction, offset);
  };
}

function spend(scan: Scan, item: Y.Item, transaction: Y.Transaction, offset: number): void {
  const { first, steps } = firstConflict(item, transaction, offset);
  if (first === null) return;
  const origin = offset > 0 ? Y.createID(item.id.client, item.id.clock + offset - 1) : item.origin;
  scan.left -= steps / STEPS_PER_COMPARISON + comparisons(item, origin, first, transaction, scan.left);
  if (scan.left <= 0) {
    const isHopeless = scan.before >= BURST / 2;
    scan.left = 0;
    throw new TooManyConflicts(isHopeless);
  }
}

interface FirstConflict {
  readonly first: Y.Item | null;
  /** Steps to find it. */
  readonly steps: number;
}

const NO_CONFLICT: FirstConflict = { first: null, steps: 0 };

/** The first item that Yjs compares with; null where both neighbours of the item are still neighbours of each other. */
function firstConflict(item: Y.Item, transaction: Y.Transaction, offset: number): FirstConflict {
  const parent = item.parent as Y.AbstractType<unknown> | null;
  if (parent === null) return NO_CONFLICT;
  const left = offset > 0 ? lastOf(Y.getItem(transaction.doc.store, Y.createID(item.id.client, item.id.clock + offset - 1))) : item.left;
  if (left !== null) return left.right === item.right ? NO_CONFLICT : { first: left.right, steps: 0 };
  if (item.right !== null && item.right.left === null) return NO_CONFLICT;
  return item.parentSub === null ? { first: parent._start, steps: 0 } : firstOf(parent._map.get(item.parentSub) ?? null);
}

function lastOf(struct: unknown): Y.Item | null {
  return struct instanceof Y.Item ? struct : null;
}

function firstOf(item: Y.Item | null): FirstConflict {
  let first = item;
  let steps = 0;
  for (; first !== null && first.left !== null; steps += 1) first = first.left;
  return { first, steps };
}

/** How many items Yjs will compare, counted up to `max`. The rules are those of its search, which ends at the first item that is no conflict. */
function comparisons(item: Y.Item, origin: Y.ID | null, first: Y.Item, { doc: { store } }: Y.Transaction, max: number): number {
  const seen = new Set<Y.Item>();
  let count = 0;
  for (let other: Y.Item | null = first; other !== null && other !== item.right && count < max; other = other.right) {
    count += 1;
    seen.add(other);
    if (Y.compareIDs(origin, other.origin)) {
      if (other.id.client >= item.id.client && Y.compareIDs(item.rightOrigin, other.rightOrigin)) break;
    } else if (other.origin === null || !seen.has(Y.getItem(store, other.origin) as Y.Item)) break;
  }
  return count;
}
