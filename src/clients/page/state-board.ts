/** What a page shows of all its connections together. */
import type { ConnectionState, State } from './api.ts';

/** The first that any of them is in. Where one works and another is refused, the refused one says so itself. */
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
