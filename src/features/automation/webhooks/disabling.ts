/** Turns a webhook off and tells the account that stands for it. */
import type { Fact } from '../../../platform/bus.ts';
import type { Config } from '../../../platform/config.ts';
import type { Queries } from '../../deps.ts';
import { mailNotices } from '../notifications/notice-mails.ts';
import { addNotices } from '../notifications/notices.ts';
import { disabledNotice } from './notice.ts';
import { disable, type WebhookClaim } from './queue-rows.ts';
import type { DisabledReason } from './rules.ts';

/** Answers what to tell the bus after the commit. */
export async function turnOff(
  tx: Queries,
  { id, userId, artifactId }: WebhookClaim,
  reason: Exclude<DisabledReason, 'off'>,
  { config, nowMs }: { readonly config: Pick<Config, 'baseUrl'>; readonly nowMs: number },
): Promise<readonly Fact[]> {
  const url = await disable(tx, id, reason, nowMs);
  if (url === null) return [];
  // Without the artifact, which the account may not see any more.
  const about = reason === 'access_lost' ? null : artifactId;
  const notices = [{ userId, kind: 'webhook.disabled', ...disabledNotice(url, reason), artifactId: about, url: null }];
  await mailNotices(tx, notices, { config, nowMs });
  return [await addNotices(tx, notices, nowMs)];
}
