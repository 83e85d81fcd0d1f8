/** What the account that stands for a webhook is told when it was turned off. */
import type { DisabledReason } from './rules.ts';

const WHY: Readonly<Record<Exclude<DisabledReason, 'off'>, string>> = {
  failing: 'Its host has not taken any delivery for a week. What waits is sent when you turn it on again.',
  gone: 'Its host answered 410, which says that it wants no more deliveries.',
  access_lost: 'You may no longer manage what it is about. Whoever may can turn it on again.',
};

export function disabledNotice(url: string, reason: Exclude<DisabledReason, 'off'>): { readonly title: string; readonly body: string } {
  return { title: `The webhook to ${new URL(url).host} was turned off`, body: WHY[reason] };
}
