/** A follow-up such as "And how much is it?" does not name what it is about: the question before it does. */
import { LIMITS } from '../../../../protocol/core/limits.ts';
import type { Said } from './prompt.ts';

/** A follow-up that matches many passages by its common words would leave no place for what it is about. */
const EARLIER_SHARE = 1 / 3;

/** The last other question of the user, no longer than a question may be, so that looking for it costs no more. Undefined for none. */
export function earlierQuestion(question: string, history: readonly Said[]): string | undefined {
  return history
    .filter(({ role }) => role === 'user')
    .map(({ text }) => text.trim().slice(0, LIMITS.askQuestionCharsMax))
    .findLast((text) => text !== '' && text !== question);
}

export interface Found<T> {
  readonly own: readonly T[];
  /** What only the earlier question has found. */
  readonly earlier: readonly T[];
}

/** The best of both, each once and `max` together. A third of the places is the earlier question's; what one leaves free the other may take. */
export function together<T>(own: readonly T[], earlier: readonly T[], max: number, keyOf: (item: T) => unknown): Found<T> {
  if (earlier.length === 0) return { own: own.slice(0, max), earlier };
  const kept = Math.ceil(max * EARLIER_SHARE);
  const chosen = new Set<unknown>();
  const choose = (items: readonly T[], until: number) => {
    for (const item of items) if (chosen.size < until) chosen.add(keyOf(item));
  };
  choose(own, max - kept);
  choose(earlier, chosen.size + kept);
  choose(own, max);
  choose(earlier, max);
  // Deleting says that it was there: each is taken once, by the question itself where both have found it.
  const taken = (item: T) => chosen.delete(keyOf(item));
  return { own: own.filter(taken), earlier: earlier.filter(taken) };
}
