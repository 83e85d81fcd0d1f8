/** A queue with a lane for each artifact (or other holder of a share). Lanes take turns, so that a long one does not delay the others. */
export class Lanes<T> {
  /** In the order in which it is their turn. */
  readonly #lanes = new Map<string, T[]>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  sizeOf(lane: string): number {
    return this.#lanes.get(lane)?.length ?? 0;
  }

  push(lane: string, item: T): void {
    const items = this.#lanes.get(lane);
    if (items === undefined) this.#lanes.set(lane, [item]);
    else items.push(item);
    this.#size += 1;
  }

  /** The oldest item of the lane whose turn it is. */
  take(): T | undefined {
    for (const [lane, items] of this.#lanes) {
      this.#lanes.delete(lane);
      const item = items.shift();
      if (items.length > 0) this.#lanes.set(lane, items);
      if (item === undefined) continue;
      this.#size -= 1;
      return item;
    }
    return undefined;
  }
}
