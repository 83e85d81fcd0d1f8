/**
 * Buffers that are used again and again. Memory outside of V8's heap counts for its garbage collector: each 64 MB that are allocated make it
 * look through the whole heap, which stops everybody for 10 to 25 ms, so what carries megabytes a second should not be allocated each time.
 */

/** Below it Node takes buffers from a pool of its own, or allocates them cheaply. */
const SMALL_BYTES = 16 * 1024;
const LARGEST_BYTES = 8 * 1024 * 1024;
/** What is kept unused: what four answers of 4 MB take, which one caller may ask for at once. */
const SPARE_BYTES_MAX = 48 * 1024 * 1024;

export class SpareBuffers {
  /** By size. */
  readonly #spare = new Map<number, ArrayBuffer[]>();
  #spareBytes = 0;
  /** Whoever has taken one and does not give it back leaves it to the garbage collector. */
  readonly #lent = new WeakSet<ArrayBufferLike>();

  /** Exactly so many bytes, with whatever was in them. */
  take(bytes: number): Buffer {
    if (bytes <= SMALL_BYTES || bytes > LARGEST_BYTES) return Buffer.allocUnsafe(bytes);
    const size = sizeFor(bytes);
    let memory = this.#spare.get(size)?.pop();
    if (memory === undefined) memory = Buffer.allocUnsafeSlow(size).buffer as ArrayBuffer;
    else this.#spareBytes -= size;
    this.#lent.add(memory);
    return Buffer.from(memory, 0, bytes);
  }

  /** Only for memory that nobody reads any more, through no view of it. What was not taken here, or was given back before, is left alone. */
  give({ buffer }: Uint8Array): void {
    if (!this.#lent.delete(buffer)) return;
    const size = buffer.byteLength;
    if (this.#spareBytes + size > SPARE_BYTES_MAX) return;
    this.#spareBytes += size;
    const spare = this.#spare.get(size);
    if (spare === undefined) this.#spare.set(size, [buffer as ArrayBuffer]);
    else spare.push(buffer as ArrayBuffer);
  }
}

/** Four sizes for each power of two, so that little of a buffer is left unused. */
function sizeFor(bytes: number): number {
  const step = 2 ** (Math.ceil(Math.log2(bytes)) - 3);
  return Math.ceil(bytes / step) * step;
}

/** Of this process. */
export const spareBuffers = new SpareBuffers();
