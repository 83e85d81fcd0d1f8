/** The frames of one WebSocket that wait for their turn. They are copied into slabs, because a small frame costs less there than as an object. */
import type { Holders } from '../platform/shares.ts';

export interface Frame {
  readonly data: ArrayBuffer;
  readonly isBinary: boolean;
}

/** The length of a frame, and in the highest bit whether it is binary. */
const HEADER_BYTES = 4;
const BINARY_BIT = 0x8000_0000;
const LENGTH_BITS = 0x7fff_ffff;
/** Slabs double from the first size to the last, so that a socket with one waiting frame holds little. */
const SLAB_BYTES_MIN = 4 * 1024;
const SLAB_BYTES_MAX = 64 * 1024;

interface Slab {
  readonly buffer: ArrayBuffer;
  readonly view: DataView;
  start: number;
  end: number;
}

export interface QueueOptions {
  readonly holders: Holders;
  readonly bytesMax: number;
  /** Handles a frame, now or later. May not throw. */
  handle(data: ArrayBuffer, isBinary: boolean): void;
  /** The last waiting frame has been handled. */
  emptied(): void;
}

export class FrameQueue {
  readonly options: QueueOptions;
  #slabs: Slab[] = [];
  #frames = 0;
  #heldBytes = 0;

  constructor(options: QueueOptions) {
    this.options = options;
  }

  get frames(): number {
    return this.#frames;
  }

  /** The bytes of its slabs. */
  get heldBytes(): number {
    return this.#heldBytes;
  }

  /** How many bytes the queue has to hold in addition for a frame of this length. */
  growthFor(frameBytes: number): number {
    const needed = HEADER_BYTES + frameBytes;
    const last = this.#slabs.at(-1);
    if (last !== undefined && last.buffer.byteLength - last.end >= needed) return 0;
    return Math.max(needed, Math.min(SLAB_BYTES_MAX, Math.max(SLAB_BYTES_MIN, this.#heldBytes)));
  }

  /** `growth` is what `growthFor` returned for it. */
  push(data: ArrayBuffer, isBinary: boolean, growth: number): void {
    if (growth > 0) this.#grow(growth);
    const slab = this.#slabs.at(-1);
    if (slab === undefined) throw new Error('a frame was added without room for it');
    slab.view.setUint32(slab.end, data.byteLength | (isBinary ? BINARY_BIT : 0));
    new Uint8Array(slab.buffer).set(new Uint8Array(data), slab.end + HEADER_BYTES);
    slab.end += HEADER_BYTES + data.byteLength;
    this.#frames += 1;
  }

  /** The first frame; undefined where none waits. Its slab is released with its last frame. */
  take(): Frame | undefined {
    const [slab] = this.#slabs;
    if (slab === undefined) return undefined;
    const header = slab.view.getUint32(slab.start);
    const from = slab.start + HEADER_BYTES;
    slab.start = from + (header & LENGTH_BITS);
    this.#frames -= 1;
    const frame = { data: slab.buffer.slice(from, slab.start), isBinary: (header & BINARY_BIT) !== 0 };
    if (slab.start === slab.end) {
      this.#slabs.shift();
      this.#heldBytes -= slab.buffer.byteLength;
    }
    return frame;
  }

  clear(): void {
    this.#slabs = [];
    this.#frames = 0;
    this.#heldBytes = 0;
  }

  #grow(bytes: number): void {
    const buffer = new ArrayBuffer(bytes);
    this.#slabs.push({ buffer, view: new DataView(buffer), start: 0, end: 0 });
    this.#heldBytes += bytes;
  }
}
