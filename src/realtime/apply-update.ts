/** Applies an update of a client and reports its outcome, at once or after the commit. */
import type { Seat } from './room-types.ts';

export interface Arrived {
  /** A SyncStep2 is everything that the client has and the document lacks. */
  readonly kind: 'step2' | 'update';
  readonly update: Uint8Array;
}

export function applyUpdate(
  seat: Pick<Seat, 'apply'>,
  { kind, update }: Arrived,
  taken: () => void,
  notTaken: (error: unknown) => void,
): void {
  try {
    const outcome = seat.apply(update, kind === 'step2');
    if (outcome instanceof Promise) outcome.then(taken, notTaken);
    else taken();
  } catch (error) {
    notTaken(error);
  }
}
