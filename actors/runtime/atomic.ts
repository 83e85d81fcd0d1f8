/** Several turns as one: all of them change the artifact, or none does. */
import { Failure } from '../../protocol/core/errors.ts';

/** Thrown by a series of turns when one of them refuses. The runtime takes back what those before it changed. */
export class Undone extends Error {
  override readonly name = 'Undone';
  /** Which of the turns refused. */
  readonly index: number;
  readonly failure: Failure;

  constructor(index: number, failure: Failure) {
    super(failure.message);
    this.index = index;
    this.failure = failure;
  }
}

interface Step<A> {
  readonly turn: (actor: A) => unknown;
  readonly prepare: ((actor: A) => Promise<void> | undefined) | undefined;
}

/** One turn and one preparation out of many. Every turn sees what those before it have changed. */
export function inOneTurn<A>(steps: readonly Step<A>[]): { turn(actor: A): unknown[]; prepare(actor: A): Promise<void> | undefined } {
  return {
    turn: (actor) =>
      steps.map(({ turn }, index) => {
        try {
          return turn(actor);
        } catch (error) {
          throw error instanceof Failure ? new Undone(index, error) : error;
        }
      }),
    prepare: (actor) => {
      const waits = steps.flatMap(({ prepare }) => prepare?.(actor) ?? []);
      return waits.length === 0 ? undefined : Promise.all(waits).then(() => undefined);
    },
  };
}
