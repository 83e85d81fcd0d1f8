/** What the installation offers, and its banner: stored, cached on every node, and read again when an administrator changes them. */
import type { InstanceFlag } from '../../../../protocol/business/instance-health.ts';
import { Failure } from '../../../../protocol/core/errors.ts';
import type { Bus } from '../../../platform/bus.ts';
import { ReadCache } from '../../../platform/cache.ts';
import type { Sql } from '../../../storage/sql.ts';
import { type BannerRow, type FlagRow, readBanner, readFlags } from './settings-rows.ts';

interface Stored {
  readonly flags: ReadonlyMap<string, FlagRow>;
  readonly banner: BannerRow | null;
}

const ONLY = 'settings';

export class InstanceSettings {
  readonly #stored: ReadCache<typeof ONLY, Stored>;

  constructor({ sql, bus }: { readonly sql: Sql; readonly bus: Bus }) {
    const load = async (): Promise<Stored> => {
      const rows = await readFlags(sql);
      return { flags: new Map(rows.map((row) => [row.name, row])), banner: await readBanner(sql) };
    };
    this.#stored = new ReadCache({ entriesMax: 1, load });
    bus.cache('instance settings', { everything: () => this.#stored.clear(), 'instance.changed': () => this.#stored.clear() });
  }

  /** Throws SWITCHED_OFF. Not inside a transaction: it may read on another connection. */
  async require(flag: InstanceFlag): Promise<void> {
    if (!(await this.isOn(flag))) throw switchedOff();
  }

  async isOn(flag: InstanceFlag): Promise<boolean> {
    const stored = await this.#stored.get(ONLY);
    return stored?.flags.get(flag)?.enabled !== false;
  }

  async banner(): Promise<BannerRow | null> {
    return (await this.#stored.get(ONLY))?.banner ?? null;
  }
}

function switchedOff(): Failure {
  return new Failure('SWITCHED_OFF');
}
