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

/** One of 360 hues, all with the same strength. */
export function colorOf(id: string): string {
  // FNV-1a
  let hash = 0x811c9dc5;
  for (let at = 0; at < id.length; at += 1) hash = Math.imul(hash ^ id.charCodeAt(at), 0x01000193);
  const hue = (hash >>> 0) % 360;
  const channel = (offset: number) => {
    const k = (offset + hue / 30) % 12;
    // CSS Color 4, hsl(hue 70% 38%) to sRGB.
    const value = 0.38 - 0.7 * 0.38 * Math.max(-1, Math.min(k - 3, 9 - k, 1));
    return Math.round(value * 255)
      .toString(16)
      .padStart(2, '0');
  };
  return `#${channel(0)}${channel(8)}${channel(4)}`;
}
