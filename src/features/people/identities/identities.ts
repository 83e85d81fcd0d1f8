/** How others see a caller: beside a cursor, in the presence list and with a message. The server decides it; a client cannot set it. */
import type { Principal } from '../../../../actors/access/access.ts';
import type { UserId } from '../../../../protocol/core/ids.ts';
import type { Bus } from '../../../platform/bus.ts';
import { ReadCache } from '../../../platform/cache.ts';
import type { Sql } from '../../../storage/sql.ts';
import { readShownName } from '../accounts/rows.ts';
import { colorOf } from './rules.ts';

const CACHED_NAMES_MAX = 20_000;

export interface Identity {
  /** The id of the account, the guest or the agent; for anonymous callers `anonymous:` and the session. */
  readonly id: string;
  readonly name: string;
  readonly kind: 'human' | 'agent' | 'guest' | 'anonymous';
  /** `#rrggbb`, derived from the id; dark enough for white text on it. */
  readonly color: string;
}

export class Identities {
  readonly #names: ReadCache<UserId, { readonly name: string }>;

  constructor({ sql, bus }: { readonly sql: Sql; readonly bus: Bus }) {
    this.#names = new ReadCache({
      entriesMax: CACHED_NAMES_MAX,
      load: async (id) => {
        const row = await readShownName(sql, id);
        // The end of the id tells accounts without a name apart.
        return row === null ? null : { name: row.name ?? `User ${id.slice(-4)}` };
      },
    });
    bus.cache('names of accounts', {
      everything: () => this.#names.clear(),
      'account.changed': ({ userId }) => this.#names.invalidate(userId),
    });
  }

  /** `session`: unique to the connection; identifies anonymous callers. Synchronous unless an account has to be read. */
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
        return identity(principal.principalId, principal.name, 'agent');
      case 'anonymous':
        return identity(`anonymous:${session}`, 'Anonymous', 'anonymous');
      default:
        return principal satisfies never;
    }
  }
}

function identity(id: string, name: string, kind: Identity['kind']): Identity {
  return { id, name, kind, color: colorOf(id) };
}
