/** Who a caller is to others: what is shown beside a cursor, in the list of who is here, and with a message. Never what a client says of itself. */
import type { Principal } from '../../actors/access.ts';
import type { UserId } from '../../protocol/ids.ts';
import { ReadCache } from '../cache.ts';
import type { Sql } from '../storage/sql.ts';

const CACHED_NAMES_MAX = 20_000;

export interface Identity {
  /** Of the account, the guest or the agent's token; `anonymous:…` of one session. */
  readonly id: string;
  readonly name: string;
  readonly kind: 'human' | 'agent' | 'guest' | 'anonymous';
  /** `#rrggbb`, always the same for the same id; dark enough for white text on it. */
  readonly color: string;
}

export class Identities {
  readonly #names: ReadCache<UserId, { readonly name: string }>;

  constructor({ sql }: { readonly sql: Sql }) {
    this.#names = new ReadCache({
      entriesMax: CACHED_NAMES_MAX,
      load: async (id) => {
        const [row] = await sql<
          { name: string | null }[]
        >`select coalesce(nullif(name, ''), username) as name from account where id = ${id}`;
        // An account without a name is told apart from others by the end of its id.
        return row === undefined ? null : { name: row.name ?? `User ${id.slice(-4)}` };
      },
    });
  }

  /** `session`: unlike that of any other connection; names who is anonymous. At once where no account has to be read. */
  of(principal: Principal, session: string): Identity | Promise<Identity> {
    switch (principal.kind) {
      case 'user': {
        const known = this.#names.get(principal.userId);
        if (!(known instanceof Promise)) return identity(principal.userId, known.name, 'human');
        return known.then((account) => identity(principal.userId, account?.name ?? 'Somebody', 'human'));
      }
      case 'guest':
        return identity(principal.guestId, principal.name, 'guest');
      case 'agent':
        return identity(principal.tokenId, 'Agent', 'agent');
      case 'anonymous':
        return identity(`anonymous:${session}`, 'Anonymous', 'anonymous');
      default:
        return principal satisfies never;
    }
  }

  /** Call after a profile has changed: who connects from now on has the new name. */
  forget(userId: UserId): void {
    this.#names.invalidate(userId);
  }
}

function identity(id: string, name: string, kind: Identity['kind']): Identity {
  return { id, name, kind, color: colorOf(id) };
}

/** WCAG 2.2, 1.4.3: of normal text to what is behind it. */
const CONTRAST_MIN = 4.5;
const SATURATION = 0.7;

/** One of 360 hues, as light as white text on it allows. */
function colorOf(id: string): string {
  // FNV-1a
  let hash = 0x811c9dc5;
  for (let at = 0; at < id.length; at += 1) hash = Math.imul(hash ^ id.charCodeAt(at), 0x01000193);
  const hue = (hash >>> 0) % 360;
  let lightness = 0.5;
  let channels = toRgb(hue, lightness);
  while (1.05 / (luminance(channels) + 0.05) < CONTRAST_MIN) {
    lightness -= 0.01;
    channels = toRgb(hue, lightness);
  }
  return `#${channels.map((channel) => channel.toString(16).padStart(2, '0')).join('')}`;
}

type Rgb = readonly [red: number, green: number, blue: number];

/** CSS Color 4, hsl() to sRGB; channels 0 to 255. */
function toRgb(hue: number, lightness: number): Rgb {
  const channel = (offset: number) => {
    const k = (offset + hue / 30) % 12;
    const range = SATURATION * Math.min(lightness, 1 - lightness);
    return Math.round(255 * (lightness - range * Math.max(-1, Math.min(k - 3, 9 - k, 1))));
  };
  return [channel(0), channel(8), channel(4)];
}

/** WCAG 2.2, relative luminance. */
function luminance([red, green, blue]: Rgb): number {
  const linear = (channel: number) => (channel <= 10.31 ? channel / 255 / 12.92 : ((channel / 255 + 0.055) / 1.055) ** 2.4);
  return 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue);
}
