/** Combines the states of the page's connections into the one that `easel.state` shows. */
import type { ConnectionState, State } from './api.ts';

/** The first state in this order that any connection has. `refused` is last: a single refused connection reports its own error. */
const ORDER = ['connecting', 'polling', 'live', 'refused'] as const satisfies readonly State[];

export class StateBoard {
  state: State = 'idle';
  readonly #onState: (state: State) => void;
  readonly #states = new Map<string, State>();

  constructor(onState: (state: State) => void) {
    this.#onState = onState;
  }

  set(part: string, state: State | ConnectionState): void {
    this.#states.set(part, state === 'offline' ? 'connecting' : state);
    const states = [...this.#states.values()];
    const next = ORDER.find((one) => states.includes(one)) ?? 'idle';
    if (next === this.state) return;
    this.state = next;
    this.#onState(next);
  }
}
