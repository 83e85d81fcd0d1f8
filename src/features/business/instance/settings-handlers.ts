/** The endpoints of the installation's flags and its banner. */
import type { z } from 'zod';
import { checkConditions } from '../../../../actors/json/json-conditions.ts';
import type { Clock } from '../../../../actors/runtime/ports.ts';
import type { banner } from '../../../../protocol/business/banner.ts';
import { type InstanceFlag, instanceFlagName } from '../../../../protocol/business/instance-health.ts';
import type { Endpoints } from '../../../../protocol/table.ts';
import { bodyEtag, contentEtag } from '../../../edge/answer.ts';
import type { Call, Handlers } from '../../../edge/call.ts';
import { dateTime } from '../../../platform/date-time.ts';
import type { Queries } from '../../deps.ts';
import { audit } from '../../workspaces/audit/audit.ts';
import { adminOf, lockAdmins } from './admins.ts';
import type { InstanceDeps } from './people.ts';
import type { InstanceSettings } from './settings.ts';
import { type BannerRow, deleteBanner, lockSettings, readBanner, readFlags, writeBanner, writeFlag } from './settings-rows.ts';

const INSTALLATION = { type: 'installation', id: null, name: null } as const;

export function instanceFlagHandlers({ sql, bus }: InstanceDeps): Handlers<'instanceFlags.get' | 'instanceFlags.update'> {
  return {
    'instanceFlags.get': async () => shownFlags(await flagsOf(sql)),
    'instanceFlags.update': async (call) => {
      const { userId } = adminOf(call.principal);
      const body = await sql.begin(async (tx) => {
        await lockAdmins(tx, userId);
        await lockSettings(tx);
        const before = await flagsOf(tx);
        checkConditions({ etag: shownFlags(before).etag }, call);
        const detail: Record<string, boolean> = {};
        for (const [name, value] of Object.entries(call.body.flags) as [InstanceFlag, boolean | { enabled: boolean } | undefined][]) {
          const enabled = typeof value === 'object' ? value.enabled : value;
          if (enabled === undefined || enabled === before.flags[name].enabled) continue;
          await writeFlag(tx, name, enabled, userId, call.nowMs);
          detail[name] = enabled;
        }
        if (Object.keys(detail).length > 0)
          await audit(tx, call, { workspaceId: null, action: 'flags.update', target: INSTALLATION, detail });
        return flagsOf(tx);
      });
      bus.tell({ kind: 'instance.changed' });
      return shownFlags(body);
    },
  };
}

type Flags = Awaited<ReturnType<typeof flagsOf>>;

async function flagsOf(sql: Queries) {
  const rows = new Map((await readFlags(sql)).map((row) => [row.name, row]));
  const flagOf = (name: InstanceFlag) => {
    const row = rows.get(name);
    if (row === undefined) return { enabled: true, changed_at: null, changed_by: null };
    return { enabled: row.enabled, changed_at: dateTime(row.changed_at_ms), changed_by: row.changed_by };
  };
  const flags = Object.fromEntries(instanceFlagName.options.map((name) => [name, flagOf(name)]));
  return { flags: flags as Record<InstanceFlag, ReturnType<typeof flagOf>> };
}

function shownFlags(body: Flags) {
  return { reply: 'ok', body, etag: bodyEtag(body) } as const;
}

type Wanted = NonNullable<Call<Endpoints['banner.set']>['body']>;
type BannerIds = 'banner.current' | 'banner.stored' | 'banner.set' | 'banner.clear';

export function bannerHandlers({ sql, bus, clock }: InstanceDeps, settings: InstanceSettings): Handlers<BannerIds> {
  /** `wanted` null: none. */
  const change = async (call: Call<Endpoints['banner.set']> | Call<Endpoints['banner.clear']>, wanted: Wanted | null) => {
    const row = await sql.begin(async (tx) => {
      await lockAdmins(tx, adminOf(call.principal).userId);
      await lockSettings(tx);
      const before = await readBanner(tx);
      checkConditions({ etag: shownBanner(before).etag }, call);
      if (wanted === null) {
        if (before === null) return null;
        await deleteBanner(tx);
        await audit(tx, call, { workspaceId: null, action: 'banner.clear', target: INSTALLATION, detail: {} });
        return null;
      }
      const { text, level, from, to } = wanted;
      const written = await writeBanner(tx, { text, level, from_ms: timeMs(from), to_ms: timeMs(to) }, call.nowMs);
      await audit(tx, call, { workspaceId: null, action: 'banner.set', target: INSTALLATION, detail: { text, level, from, to } });
      return written;
    });
    bus.tell({ kind: 'instance.changed' });
    return row;
  };
  return {
    'banner.current': async () => shownBanner(await currentRow(clock, settings)),
    'banner.stored': async () => shownBanner(await readBanner(sql)),
    'banner.set': async (call) => {
      const row = await change(call, call.body);
      return shownBanner(row);
    },
    'banner.clear': async (call) => {
      await change(call, null);
      return { reply: 'ok', body: { success: true } };
    },
  };
}

async function currentRow(clock: Clock, settings: InstanceSettings): Promise<BannerRow | null> {
  const row = await settings.banner();
  return row === null || (row.to_ms !== null && row.to_ms <= clock.nowMs()) ? null : row;
}

/** What everybody is told, as open streams tell it. */
export async function currentBanner({ clock }: { readonly clock: Clock }, settings: InstanceSettings) {
  return shownBanner(await currentRow(clock, settings)).body;
}

function timeMs(time: string | undefined): number | null {
  return time === undefined ? null : Date.parse(time);
}

type Banner = z.input<typeof banner>;

function shownBanner(row: BannerRow | null) {
  const shown: Banner | null =
    row === null
      ? null
      : {
          ...{ text: row.text, level: row.level },
          from: row.from_ms === null ? null : dateTime(row.from_ms),
          to: row.to_ms === null ? null : dateTime(row.to_ms),
        };
  const body = { banner: shown };
  return { reply: 'ok', body, etag: contentEtag(JSON.stringify([shown, row?.set_at_ms])) } as const;
}
