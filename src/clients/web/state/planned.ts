/**
 * Changes of who has access. What a change would open and close is asked of the server first; where somebody gains or loses something it is
 * shown in words and made only when it is confirmed, and only against the state that was shown.
 */
import { signal } from '@preact/signals';
import { type Answer, api } from '../api/client.ts';
import { type Problem, problemOf } from '../api/problem.ts';
import { tellProblem } from './toasts.ts';

export type Simulated = Answer<'access', 'simulate'>;
type Plan = Parameters<typeof api.access.simulate>[0]['body'];

interface Asked {
  readonly title: string;
  /** What the button says that makes the change. */
  readonly action: string;
  readonly simulated: Simulated;
  /** Something that decides has changed since the last simulation was shown. */
  readonly isStale: boolean;
  readonly answer: (isConfirmed: boolean) => void;
}

/** What the dialog shows, while it waits for an answer. */
export const asked = signal<Asked | undefined>(undefined);

export interface AccessChange<T> {
  readonly artifactId: string;
  readonly plan: Plan;
  readonly title: string;
  readonly action: string;
  /** Makes the change; the revision goes into If-Match. It is undefined where this person may not simulate. */
  readonly make: (revision: string | undefined) => Promise<T>;
}

function isPlain({ opens_total, closes_total }: Simulated): boolean {
  return opens_total + closes_total === 0;
}

/** Answers what `make` does, or undefined where the change was refused or put aside. Refusals are told. */
export async function changeAccess<T>(change: AccessChange<T>): Promise<T | undefined> {
  try {
    return await simulatedChange(change);
  } catch (error) {
    tellProblem(error);
    return undefined;
  }
}

/** The same; throws what the server refuses, for the form that asks. */
export async function simulatedChange<T>({ artifactId, plan, title, action, make }: AccessChange<T>): Promise<T | undefined> {
  for (let isStale = false; ; isStale = true) {
    const simulated = await simulate(artifactId, plan);
    // Without loss or gain there is nothing to confirm, unless that is news to who has confirmed something else.
    const needsAnswer = simulated !== undefined && (isStale || !isPlain(simulated));
    if (needsAnswer && !(await confirmed({ title, action, simulated, isStale }))) return undefined;
    try {
      return await make(simulated?.revision);
    } catch (error) {
      if (simulated === undefined || problemOf(error).code !== 'VERSION_CONFLICT') throw error;
    }
  }
}

/** Undefined where this person may make the change and may not see whom it concerns, or where it concerns too many to tell. */
async function simulate(id: string, body: Plan): Promise<Simulated | undefined> {
  try {
    return (await api.access.simulate({ params: { id }, body })).body;
  } catch (error) {
    const problem: Problem = problemOf(error);
    if (problem.isForbidden || problem.code === 'TOO_MANY_PEOPLE') return undefined;
    throw problem;
  }
}

function confirmed(question: Omit<Asked, 'answer'>): Promise<boolean> {
  asked.peek()?.answer(false);
  return new Promise((resolve) => {
    const answer = (isConfirmed: boolean) => {
      asked.value = undefined;
      resolve(isConfirmed);
    };
    asked.value = { ...question, answer };
  });
}
