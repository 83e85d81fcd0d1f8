/** Access to change a table: shared by many, or exclusive for an operation that needs the table unchanged between its read and its turn. */
interface Waiting {
  readonly by: object;
  readonly isAlone: boolean;
  readonly go: () => void;
}

/**
 * Shared access takes precedence over waiting exclusive access. Calls per artifact are rate-limited, so exclusive access does not starve,
 * and a shared holder may enter a second time.
 */
export class TableAccess {
  readonly #sharing = new Set<object>();
  #alone: object | undefined;
  readonly #waiting: Waiting[] = [];

  /** Undefined once `by` is in; else a promise after which to ask again. It is in until it leaves. */
  enter(by: object, isAlone: boolean): Promise<void> | undefined {
    if (this.#alone === by || this.#sharing.has(by)) return undefined;
    if (this.#let(by, isAlone)) return undefined;
    return new Promise((resolve) => this.#waiting.push({ by, isAlone, go: resolve }));
  }

  /** Also removes a waiter that has not entered yet. */
  leave(by: object): void {
    if (this.#alone === by) this.#alone = undefined;
    this.#sharing.delete(by);
    const at = this.#waiting.findIndex((waiting) => waiting.by === by);
    if (at >= 0) this.#waiting.splice(at, 1)[0]?.go();
    for (const isAlone of [false, true]) {
      for (const waiting of this.#waiting.filter((each) => each.isAlone === isAlone)) {
        if (!this.#let(waiting.by, isAlone)) break;
        this.#waiting.splice(this.#waiting.indexOf(waiting), 1);
        waiting.go();
      }
    }
  }

  #let(by: object, isAlone: boolean): boolean {
    if (this.#alone !== undefined || (isAlone && this.#sharing.size > 0)) return false;
    if (isAlone) this.#alone = by;
    else this.#sharing.add(by);
    return true;
  }
}

interface Kept {
  readonly access: TableAccess;
}

/** One operation's place at the table that it works on. The actor may be another when it asks again, and with it the table. */
export class Seat {
  readonly #isAlone: boolean;
  #table: Kept | undefined;

  constructor(isAlone: boolean) {
    this.#isAlone = isAlone;
  }

  /** Undefined once it is taken; else a promise after which to ask again. */
  take(table: Kept): Promise<void> | undefined {
    if (this.#table !== table) this.leave();
    this.#table = table;
    return table.access.enter(this, this.#isAlone);
  }

  leave(): void {
    this.#table?.access.leave(this);
    this.#table = undefined;
  }
}
