/** The work that a visitor does for a message. In JavaScript: `crypto.subtle` needs a secure context, and a call for each digest is slow. */

const ROUND_KEYS = new Int32Array([
  ...[0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be],
  ...[0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa],
  ...[0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85],
  ...[0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3],
  ...[0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f],
  ...[0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2],
]);
const START = [0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19];
const TRIES_AT_ONCE = 3000;

export interface SolveOptions {
  /** Resolves after `ms`, so that the page stays responsive; rejects when the signal fires. */
  readonly wait: (ms: number, signal?: AbortSignal) => Promise<void>;
  readonly signal?: AbortSignal | undefined;
}

/** A number as text with which SHA-256 of `challenge.number` begins with so many zero bits. `bits`: 1 to 32. */
export async function solveProof(challenge: string, bits: number, { wait, signal }: SolveOptions): Promise<string> {
  for (let tried = 0; ; tried += TRIES_AT_ONCE) {
    for (let n = tried; n < tried + TRIES_AT_ONCE; n += 1) if (firstWord(`${challenge}.${n}`) >>> (32 - bits) === 0) return String(n);
    await wait(0, signal);
  }
}

/** The first 32 bits of the SHA-256 of an ASCII text. */
export function firstWord(text: string): number {
  const blocks = (text.length + 72) >> 6;
  const words = new Int32Array(blocks * 16);
  for (let at = 0; at <= text.length; at += 1) {
    const byte = at === text.length ? 0x80 : text.charCodeAt(at);
    words[at >> 2] = (words[at >> 2] ?? 0) | (byte << (24 - (at & 3) * 8));
  }
  words[words.length - 1] = text.length * 8;
  const state = Int32Array.from(START);
  const schedule = new Int32Array(64);
  for (let block = 0; block < blocks; block += 1) compress(state, schedule, words.subarray(block * 16, block * 16 + 16));
  return (state[0] ?? 0) >>> 0;
}

/** FIPS 180-4, 6.2.2. */
function compress(state: Int32Array, schedule: Int32Array, block: Int32Array): void {
  schedule.set(block);
  const at = (array: Int32Array, index: number) => array[index] as number;
  for (let t = 16; t < 64; t += 1) {
    const x = at(schedule, t - 15);
    const y = at(schedule, t - 2);
    const small = (turn(x, 7) ^ turn(x, 18) ^ (x >>> 3)) + (turn(y, 17) ^ turn(y, 19) ^ (y >>> 10));
    schedule[t] = (at(schedule, t - 16) + at(schedule, t - 7) + small) | 0;
  }
  let [a, b, c, d, e, f, g, h] = state as unknown as [number, number, number, number, number, number, number, number];
  for (let t = 0; t < 64; t += 1) {
    const one = (h + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) + ((e & f) ^ (~e & g)) + at(ROUND_KEYS, t) + at(schedule, t)) | 0;
    const two = ((turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + ((a & b) ^ (a & c) ^ (b & c))) | 0;
    h = g;
    g = f;
    f = e;
    e = (d + one) | 0;
    d = c;
    c = b;
    b = a;
    a = (one + two) | 0;
  }
  for (const [index, value] of [a, b, c, d, e, f, g, h].entries()) state[index] = at(state, index) + value;
}

function turn(word: number, by: number): number {
  return (word >>> by) | (word << (32 - by));
}
