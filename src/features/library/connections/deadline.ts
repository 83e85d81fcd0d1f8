/** Ends what takes too long, by real time: the clock of the other side. */
import { EgressFailure } from '../../../egress/failure.ts';
import { systemClock } from '../../../platform/clock.ts';

export interface Deadline {
  /** Fires at the deadline, and with the outer one. */
  readonly signal: AbortSignal;
  end(): void;
}

export function deadline(ms: number, outer: AbortSignal | undefined): Deadline {
  const ending = new AbortController();
  const giveUp = () => ending.abort(outer?.reason);
  if (outer?.aborted) giveUp();
  outer?.addEventListener('abort', giveUp, { once: true });
  const timer = systemClock.after(ms, () => ending.abort(new EgressFailure('timeout', `There was no whole answer within ${ms / 1000} s.`)));
  return {
    signal: ending.signal,
    end: () => {
      timer.cancel();
      outer?.removeEventListener('abort', giveUp);
    },
  };
}

export async function withDeadline<T>(ms: number, outer: AbortSignal | undefined, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const { signal, end } = deadline(ms, outer);
  try {
    return await work(signal);
  } finally {
    end();
  }
}
