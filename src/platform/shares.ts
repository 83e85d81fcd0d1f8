/** A bounded resource that strangers share: how much there is in all, and how much of it one caller, network or artifact may hold at once. */

/** Who holds a part. A name that is absent has no share to keep, so only the total bounds it. */
export interface Holders {
  /** The network of the peer, as `networkOf` tells it. */
  readonly network?: string | undefined;
  /** A credential, where there is one. */
  readonly caller?: string | undefined;
  readonly artifact?: string | undefined;
}

export interface ShareBounds extends Readonly<Record<keyof Holders, number>> {
  readonly total: number;
}

/** What left no room: the whole resource, or the share of one holder. */
export type Exhausted = 'total' | keyof Holders;

/** Counts what was refused for want of a share. */
export interface Refusals {
  refused(resource: string, share: Exhausted): void;
}

const KINDS = ['network', 'caller', 'artifact'] as const satisfies readonly (keyof Holders)[];

export class Shares {
  readonly bounds: ShareBounds;
  readonly #held: Readonly<Record<keyof Holders, Map<string, number>>> = { network: new Map(), caller: new Map(), artifact: new Map() };
  #total = 0;

  constructor(bounds: ShareBounds) {
    this.bounds = bounds;
  }

  /** What is held in all, in the resource's own unit. */
  get total(): number {
    return this.#total;
  }

  held(kind: keyof Holders, name: string): number {
    return this.#held[kind].get(name) ?? 0;
  }

  /** What has no room for this amount, or undefined where it fits. */
  exhausted(amount: number, holders: Holders): Exhausted | undefined {
    for (const kind of KINDS) {
      const name = holders[kind];
      if (name !== undefined && this.held(kind, name) + amount > this.bounds[kind]) return kind;
    }
    return this.#total + amount > this.bounds.total ? 'total' : undefined;
  }

  /** Takes the amount where there is room for it; otherwise takes nothing and returns what has none. */
  take(amount: number, holders: Holders): Exhausted | undefined {
    const exhausted = this.exhausted(amount, holders);
    if (exhausted === undefined) this.#add(amount, holders);
    return exhausted;
  }

  /** Takes the amount although there may be no room, for what can no longer be refused. Until it is given back nothing else has room. */
  takeAnyway(amount: number, holders: Holders): void {
    this.#add(amount, holders);
  }

  /** Gives back what `take` took, with the same holders. */
  give(amount: number, holders: Holders): void {
    this.#add(-amount, holders);
  }

  #add(amount: number, holders: Holders): void {
    this.#total += amount;
    for (const kind of KINDS) {
      const name = holders[kind];
      if (name === undefined) continue;
      const held = this.#held[kind];
      const now = (held.get(name) ?? 0) + amount;
      if (now > 0) held.set(name, now);
      else held.delete(name);
    }
  }
}
