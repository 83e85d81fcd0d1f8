/** The SQL of `instance_flag` and `instance_banner`. */
import type { InstanceFlag } from '../../../../protocol/business/instance-health.ts';
import type { UserId } from '../../../../protocol/core/ids.ts';
import type { Queries } from '../../deps.ts';

export interface FlagRow {
  readonly name: string;
  readonly enabled: boolean;
  readonly changed_at_ms: number;
  readonly changed_by: UserId | null;
}

/** Those that were ever changed: the others are on. */
export function readFlags(sql: Queries) {
  return sql<FlagRow[]>`select name, enabled, changed_at_ms, changed_by from instance_flag`;
}

/** Changes of what concerns the whole installation wait for each other until the transaction ends. */
export async function lockSettings(tx: Queries): Promise<void> {
  await tx`select pg_advisory_xact_lock(hashtextextended('instance settings', 0))`;
}

export async function writeFlag(tx: Queries, name: InstanceFlag, enabled: boolean, by: UserId, nowMs: number): Promise<void> {
  await tx`
    insert into instance_flag (name, enabled, changed_at_ms, changed_by) values (${name}, ${enabled}, ${nowMs}, ${by})
    on conflict (name) do update set enabled = excluded.enabled, changed_at_ms = excluded.changed_at_ms, changed_by = excluded.changed_by`;
}

export interface BannerRow {
  readonly text: string;
  readonly level: 'info' | 'warning' | 'critical';
  readonly from_ms: number | null;
  readonly to_ms: number | null;
  /** Grows with every write, so that each write has an ETag of its own. */
  readonly set_at_ms: number;
}

export async function readBanner(sql: Queries): Promise<BannerRow | null> {
  const [row] = await sql<BannerRow[]>`select text, level, from_ms, to_ms, set_at_ms from instance_banner`;
  return row ?? null;
}

export async function writeBanner(
  tx: Queries,
  { text, level, from_ms, to_ms }: Omit<BannerRow, 'set_at_ms'>,
  nowMs: number,
): Promise<BannerRow> {
  const [row] = await tx<BannerRow[]>`
    insert into instance_banner (text, level, from_ms, to_ms, set_at_ms) values (${text}, ${level}, ${from_ms}, ${to_ms}, ${nowMs})
    on conflict (only_one) do update
      set text = excluded.text, level = excluded.level, from_ms = excluded.from_ms, to_ms = excluded.to_ms,
        set_at_ms = greatest(instance_banner.set_at_ms + 1, excluded.set_at_ms)
    returning text, level, from_ms, to_ms, set_at_ms`;
  if (row === undefined) throw new Error('the banner was not written');
  return row;
}

export async function deleteBanner(tx: Queries): Promise<void> {
  await tx`delete from instance_banner`;
}

/** For who signs up in this transaction: whether new people may, or this address was invited by a workspace. */
export async function maySignUp(tx: Queries, email: string | null, nowMs: number): Promise<boolean> {
  const [row] = await tx<{ may: boolean }[]>`
    select not exists (select from instance_flag where name = 'sign_up' and not enabled)
      or exists (
        select from workspace_invite i where i.email = ${email?.toLowerCase() ?? null}
          and i.accepted_at_ms is null and i.revoked_at_ms is null and i.expires_at_ms > ${nowMs}
      ) as may`;
  return row?.may ?? true;
}
