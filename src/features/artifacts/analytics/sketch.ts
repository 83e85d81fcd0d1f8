/**
 * How many different visitors there were, in at most 1024 bytes: up to 127 digests as they are, which is exact, beyond that a HyperLogLog of
 * 1024 registers, whose standard error is 3.25 %. Sketches of several processes merge to that of all.
 */
const DIGEST_BYTES = 8;
const EXACT_MAX = 127;
/** Its length tells a HyperLogLog from a list of digests, which is shorter. */
const REGISTERS = 1024;
const INDEX_SHIFT = 54n;
const LOW_32 = 0xffff_ffffn;
/** Of HyperLogLog, for 128 registers and more (Flajolet et al., 2007). */
const ALPHA = 0.7213 / (1 + 1.079 / REGISTERS);
/** Below this estimate the number of empty registers tells more. */
const LINEAR_MAX = 2.5 * REGISTERS;

export class VisitorSketch {
  readonly #exact = new Set<bigint>();
  #registers: Uint8Array | undefined;

  /** The first 64 bits of a digest. */
  add(digest: bigint): void {
    if (this.#registers === undefined) {
      this.#exact.add(digest);
      if (this.#exact.size > EXACT_MAX) this.#spread();
      return;
    }
    raise(this.#registers, Number(digest >> INDEX_SHIFT), Math.clz32(Number(digest & LOW_32)) + 1);
  }

  /** Adds what `bytes` of another sketch has counted. */
  merge(bytes: Buffer): void {
    if (bytes.length === REGISTERS) {
      const registers = this.#registers ?? this.#spread();
      for (const [at, rank] of bytes.entries()) raise(registers, at, rank);
    } else {
      for (let at = 0; at < bytes.length; at += DIGEST_BYTES) this.add(bytes.readBigUInt64BE(at));
    }
  }

  count(): number {
    if (this.#registers === undefined) return this.#exact.size;
    let sum = 0;
    let empty = 0;
    for (const rank of this.#registers) {
      sum += 2 ** -rank;
      if (rank === 0) empty += 1;
    }
    const estimate = (ALPHA * REGISTERS * REGISTERS) / sum;
    return Math.round(estimate <= LINEAR_MAX && empty > 0 ? REGISTERS * Math.log(REGISTERS / empty) : estimate);
  }

  bytes(): Buffer {
    if (this.#registers !== undefined) return Buffer.from(this.#registers);
    const bytes = Buffer.alloc(this.#exact.size * DIGEST_BYTES);
    let at = 0;
    for (const digest of this.#exact) at = bytes.writeBigUInt64BE(digest, at);
    return bytes;
  }

  #spread(): Uint8Array {
    const registers = new Uint8Array(REGISTERS);
    this.#registers = registers;
    for (const digest of this.#exact) this.add(digest);
    this.#exact.clear();
    return registers;
  }
}

function raise(registers: Uint8Array, at: number, rank: number): void {
  if (rank > (registers[at] ?? 0)) registers[at] = rank;
}
