/** The limits that the edge itself keeps or asks for, and the headers that say how much is left. */
import type { ArtifactId } from '../../protocol/ids.ts';
import { LIMITS } from '../../protocol/limits.ts';

/** What one call left of a limit. */
export interface Spent {
  readonly accepted: boolean;
  readonly limit: number;
  readonly remaining: number;
  readonly resetS: number;
  readonly retryAfterS: number;
}

/** The data limit, kept by the artifact's actor. */
export interface DataLimit {
  spend(id: ArtifactId, calls?: number): Spent | Promise<Spent>;
}

export function rateLines(name: string, windowS: number, spent: Pick<Spent, 'limit' | 'remaining' | 'resetS'>): string {
  return `\r\nRateLimit-Policy: "${name}";q=${spent.limit};w=${windowS}\r\nRateLimit: "${name}";r=${spent.remaining};t=${spent.resetS}`;
}

const HOUR_MS = 3_600_000;
/** Addresses remembered; the one unseen for longest is forgotten first. */
const ADDRESSES_MAX = 10_000;

/** What one address may have in a sliding hour: new accounts, unless another limit is given. */
export class SignupLimit {
  readonly #taken = new Map<string, number[]>();
  readonly #addressesMax: number;
  readonly #limit: number;

  constructor(addressesMax: number = ADDRESSES_MAX, limit: number = LIMITS.accountsPerHourPerAddress) {
    this.#addressesMax = addressesMax;
    this.#limit = limit;
  }

  spend(address: string, nowMs: number): Spent {
    const key = network(address);
    const recent = (this.#taken.get(key) ?? []).filter((atMs) => atMs > nowMs - HOUR_MS);
    const limit = this.#limit;
    const accepted = recent.length < limit;
    if (accepted) recent.push(nowMs);
    this.#taken.delete(key);
    this.#taken.set(key, recent);
    if (this.#taken.size > this.#addressesMax) {
      for (const oldest of this.#taken.keys()) {
        this.#taken.delete(oldest);
        break;
      }
    }
    const resetS = Math.ceil(((recent[0] ?? nowMs) + HOUR_MS - nowMs) / 1000);
    return { accepted, limit, remaining: limit - recent.length, resetS, retryAfterS: accepted ? 0 : resetS };
  }
}

/** One subscriber holds a whole IPv6 /64, so that is what is counted. */
function network(address: string): string {
  if (!address.includes(':') || address.includes('.') || address.startsWith('0000:0000:0000:0000:0000:ffff:')) return address;
  const [before = '', after] = address.split('::');
  const head = before.split(':');
  const tail = after === undefined || after === '' ? [] : after.split(':');
  const groups = [...head, ...Array<string>(Math.max(0, 8 - head.length - tail.length)).fill('0'), ...tail];
  return groups
    .slice(0, 4)
    .map((group) => Number.parseInt(group || '0', 16).toString(16))
    .join(':');
}
