/** What owners and billing managers are told about payments: a notice in the bell, and a mail where something has to be done. */
import { LIMITS } from '../../../../protocol/core/limits.ts';
import { queueMail } from '../../../mail/outbox.ts';
import { composeMail, type Mail } from '../../../mail/templates/compose.ts';
import { localeOf } from '../../../mail/templates/message.ts';
import type { Fact } from '../../../platform/bus.ts';
import { addNotices } from '../../automation/notifications/notices.ts';
import type { Queries, ServiceDeps } from '../../deps.ts';
import { type BillingPerson, listBillingPeople, type PaidWorkspace } from './rows.ts';
import type { Effect, Mirrored } from './rules.ts';

/** Owners and billing managers of one workspace that are told; there are hardly ever more. */
const TOLD_MAX = 50;

type Told = Effect | 'dispute';

const NOTICES: Readonly<Record<Told, { readonly title: string; readonly body: string } | null>> = {
  payment_failed: {
    title: 'A payment was declined',
    body: 'Everything still works. Save another card, or the subscription ends after two weeks.',
  },
  trial_ended: {
    title: 'The trial has ended',
    body: 'No card was saved, so the workspace has its plan without a subscription again. Nothing was deleted.',
  },
  ended_unpaid: {
    title: 'The subscription has ended',
    body: 'It was not paid for two weeks. Nothing was deleted; choose a plan to go on.',
  },
  ended: { title: 'The subscription has ended', body: 'Nothing was deleted; choose a plan to go on.' },
  dispute: {
    title: 'A payment is disputed',
    body: 'Somebody told the bank that they did not agree to a payment. Ask who it was; the bank decides.',
  },
  recovered: null,
};

type TellingDeps = Pick<ServiceDeps, 'config'>;

/** Answers what to tell the bus after the commit. */
export async function tellPeople(
  tx: Queries,
  { config }: TellingDeps,
  workspace: PaidWorkspace,
  told: Told,
  subscription: Mirrored | null,
  nowMs: number,
): Promise<readonly Fact[]> {
  const notice = NOTICES[told];
  if (notice === null) return [];
  const people = await listBillingPeople(tx, workspace.id, TOLD_MAX);
  const url = `${config.baseUrl}/w/${workspace.slug}/billing`;
  await queueMail(tx, mailsOf(people, workspace, told, subscription, url), nowMs);
  const { title, body } = notice;
  const notices = people.map(({ user_id: userId }) => {
    return { userId, kind: `billing.${told}`, title: `${title}: ${workspace.name}`, body, artifactId: null, url };
  });
  return [await addNotices(tx, notices, nowMs)];
}

/** A further reminder, by mail alone: the bell has the first one. */
export async function remind(
  tx: Queries,
  { config }: TellingDeps,
  workspace: PaidWorkspace,
  subscription: Mirrored,
  nowMs: number,
): Promise<void> {
  const people = await listBillingPeople(tx, workspace.id, TOLD_MAX);
  const url = `${config.baseUrl}/w/${workspace.slug}/billing`;
  await queueMail(tx, mailsOf(people, workspace, 'payment_failed', subscription, url), nowMs);
}

function mailsOf(
  people: readonly BillingPerson[],
  workspace: PaidWorkspace,
  told: Told,
  subscription: Mirrored | null,
  url: string,
): readonly Mail[] {
  const addresses = new Map(
    people.flatMap(({ email, locale }) => (email === null ? [] : [[email, localeOf(locale, workspace.locale)] as const])),
  );
  return [...addresses].flatMap(([recipient, locale]) => {
    if (told === 'payment_failed') {
      const endsOn = new Date((subscription?.pastDueSinceMs ?? 0) + LIMITS.pastDueMs).toISOString().slice(0, 10);
      return [composeMail('billing_unpaid', { workspace: workspace.name, endsOn, url }, { recipient, locale })];
    }
    if (told === 'trial_ended' || told === 'ended_unpaid')
      return [composeMail('billing_ended', { workspace: workspace.name, url }, { recipient, locale })];
    return [];
  });
}
