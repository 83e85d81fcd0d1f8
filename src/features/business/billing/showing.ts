/** Which subscription a workspace shows, and which of it may be changed. */
import { Failure } from '../../../../protocol/core/errors.ts';
import type { WorkspaceId } from '../../../../protocol/core/ids.ts';
import { bodyEtag } from '../../../edge/answer.ts';
import { dateTime } from '../../../platform/date-time.ts';
import type { Queries } from '../../deps.ts';
import { readFormer } from './former-rows.ts';
import type { LookingDeps } from './looking.ts';
import { readPaying } from './payment-rows.ts';
import { presentFormer, presentSubscription } from './present.ts';
import { readSubscription, type SubscriptionRow } from './rows.ts';

type Deps = Pick<LookingDeps, 'provider' | 'clock'>;

/** The body of a subscription. */
export async function presented(sql: Queries, { provider, clock }: Deps, row: SubscriptionRow) {
  return presentSubscription(row, await readPaying(sql, row.workspaceId, provider.name), clock.nowMs());
}

/** Where there is none that runs, one of a provider that was used before. Throws SUBSCRIPTION_NOT_FOUND. */
export async function showSubscription(sql: Queries, deps: Deps, workspaceId: WorkspaceId) {
  const own = await readSubscription(sql, workspaceId, deps.provider.name);
  const former = own === null || own.status === 'canceled' ? await readFormer(sql, workspaceId, deps.provider.name) : null;
  if (former !== null) {
    const body = presentFormer(former, deps.clock.nowMs());
    return { body, etag: bodyEtag(body) };
  }
  if (own === null) throw new Failure('SUBSCRIPTION_NOT_FOUND');
  const body = await presented(sql, deps, own);
  return { body, etag: bodyEtag(body) };
}

/** Throws SUBSCRIPTION_NOT_FOUND, SUBSCRIPTION_ENDED. */
export async function requireOpen(tx: Queries, { provider }: Deps, workspaceId: WorkspaceId): Promise<SubscriptionRow> {
  const row = await readSubscription(tx, workspaceId, provider.name);
  if (row !== null && row.status !== 'canceled') return row;
  const former = await readFormer(tx, workspaceId, provider.name);
  if (former !== null) {
    const endsOn = former.periodEndsAtMs === null ? 'soon' : `on ${dateTime(former.periodEndsAtMs).slice(0, 10)}`;
    throw new Failure('SUBSCRIPTION_ENDED', {
      message: `The subscription was made with a payment provider that this installation does not use any more. It ends ${endsOn}.`,
    });
  }
  throw new Failure(row === null ? 'SUBSCRIPTION_NOT_FOUND' : 'SUBSCRIPTION_ENDED');
}
