/**
 * Checks whether a history of concurrent calls is linearizable: whether each call can be given one moment between its beginning and its end so
 * that the calls in this order do what the model says.
 *
 * The algorithm is that of Wing and Gong with Lowe's memory of what was tried before ("Testing for linearizability", 2017), as the checkers
 * Knossos and Porcupine use it (A. Athalye, github.com/anishathalye/porcupine).
 */

/** One call. */
export interface Operation<Input, Output> {
  readonly input: Input;
  /** Undefined where the caller got no answer, or one that does not tell: the call took effect at some time after its beginning, or never. */
  readonly output: Output | undefined;
  /** In any unit; of one clock. */
  readonly beganAt: number;
  /** Ignored without an output. */
  readonly endedAt: number;
}

export interface Model<State, Input, Output> {
  readonly initial: State;
  /** The state after the call; undefined where the call cannot have had this output in this state. Without an output every call is possible. */
  step(state: State, input: Input, output: Output | undefined): { readonly state: State } | undefined;
  /** Equal states have equal names. */
  nameOf(state: State): string;
}

export type Verdict =
  | { readonly outcome: 'linearizable' }
  /** No order exists. `furthest`: the most calls that can be put in order, by their index. */
  | { readonly outcome: 'broken'; readonly furthest: readonly number[] }
  /** Not found out within the bound. */
  | { readonly outcome: 'undecided' };

/** The beginning of a call, or its end: then `match` is undefined. */
interface Event {
  readonly call: number;
  readonly at: number;
  match: Event | undefined;
  previous: Event | undefined;
  next: Event | undefined;
}

/** What was tried is remembered for as many configurations. */
const TRIED_MAX = 2_000_000;

export function checkHistory<State, Input, Output>(
  history: readonly Operation<Input, Output>[],
  model: Model<State, Input, Output>,
  triedMax = TRIED_MAX,
): Verdict {
  const head = eventsOf(history);
  const tried = new Set<string>();
  const done = new Bits(history.length);
  const twins = twinsOf(history);
  const order: { readonly event: Event; readonly before: State }[] = [];
  let furthest: number[] = [];
  let { initial: state } = model;
  let event = head.next;
  while (head.next !== undefined) {
    if (event?.match !== undefined) {
      const { input, output } = history[event.call] as Operation<Input, Output>;
      const twin = twins[event.call];
      // Of calls that differ in nothing but their beginning the first comes first.
      const stepped = twin !== undefined && !done.has(twin) ? undefined : model.step(state, input, output);
      if (stepped !== undefined && isNew(tried, done, event.call, model.nameOf(stepped.state))) {
        if (tried.size > triedMax) return { outcome: 'undecided' };
        order.push({ event, before: state });
        ({ state } = stepped);
        done.set(event.call);
        lift(event);
        event = head.next;
      } else event = event.next;
      continue;
    }
    // A call ends here that has not been put in order: the last choice was wrong.
    if (order.length > furthest.length) furthest = order.map((taken) => taken.event.call);
    const last = order.pop();
    if (last === undefined) return { outcome: 'broken', furthest };
    state = last.before;
    done.clear(last.event.call);
    unlift(last.event);
    event = last.event.next;
  }
  return { outcome: 'linearizable' };
}

/** For each call without an output the last one before it that asked the same and got no output either. */
function twinsOf(history: readonly Operation<unknown, unknown>[]): readonly (number | undefined)[] {
  const twins: (number | undefined)[] = Array(history.length).fill(undefined);
  const last = new Map<string, number>();
  const order = history.map((_, call) => call).sort((a, b) => (history[a]?.beganAt ?? 0) - (history[b]?.beganAt ?? 0) || a - b);
  for (const call of order) {
    const { input, output } = history[call] as Operation<unknown, unknown>;
    if (output !== undefined) continue;
    const name = JSON.stringify(input);
    twins[call] = last.get(name);
    last.set(name, call);
  }
  return twins;
}

/** A list with a head of its own. Calls without an output end after all others. */
function eventsOf(history: readonly Operation<unknown, unknown>[]): Event {
  const events = history.flatMap(({ output, beganAt, endedAt }, call) => {
    const end: Event = {
      call,
      at: output === undefined ? Number.POSITIVE_INFINITY : endedAt,
      match: undefined,
      previous: undefined,
      next: undefined,
    };
    return [{ call, at: beganAt, match: end, previous: undefined, next: undefined } satisfies Event, end];
  });
  // Of one moment the beginnings come first, because calls that touch each other may be concurrent.
  events.sort((a, b) => (a.at === b.at ? Number(a.match === undefined) - Number(b.match === undefined) : a.at < b.at ? -1 : 1));
  const head: Event = { call: -1, at: Number.NEGATIVE_INFINITY, match: undefined, previous: undefined, next: undefined };
  let last = head;
  for (const event of events) {
    event.previous = last;
    last.next = event;
    last = event;
  }
  return head;
}

/** Takes the beginning and the end of a call out of the list. */
function lift(event: Event): void {
  for (const each of [event, event.match as Event]) {
    (each.previous as Event).next = each.next;
    if (each.next !== undefined) each.next.previous = each.previous;
  }
}

/** Puts them back where they were. */
function unlift(event: Event): void {
  for (const each of [event.match as Event, event]) {
    (each.previous as Event).next = each;
    if (each.next !== undefined) each.next.previous = each;
  }
}

function isNew(tried: Set<string>, done: Bits, call: number, state: string): boolean {
  done.set(call);
  const name = `${done.name} ${state}`;
  done.clear(call);
  const before = tried.size;
  return tried.add(name).size > before;
}

class Bits {
  readonly #words: Uint32Array;

  constructor(bits: number) {
    this.#words = new Uint32Array(Math.ceil(bits / 32));
  }

  get name(): string {
    return this.#words.join(',');
  }

  has(bit: number): boolean {
    return ((this.#words[bit >> 5] ?? 0) & (1 << (bit & 31))) !== 0;
  }

  set(bit: number): void {
    this.#words[bit >> 5] = (this.#words[bit >> 5] ?? 0) | (1 << (bit & 31));
  }

  clear(bit: number): void {
    this.#words[bit >> 5] = (this.#words[bit >> 5] ?? 0) & ~(1 << (bit & 31));
  }
}

/** A register that is written, read, added to and deleted: one JSON key. Absent is null. */
export type KeyInput =
  | { readonly kind: 'write'; readonly value: number }
  | { readonly kind: 'add'; readonly by: number }
  | { readonly kind: 'read' }
  | { readonly kind: 'delete' };
/** What a call answered: of a write and an addition the value that is now stored, of a read the value, of a delete whether there was one. */
export interface KeyOutput {
  readonly value: number | null;
}

export const keyModel: Model<number | null, KeyInput, KeyOutput> = {
  initial: null,
  step(state, input, output) {
    switch (input.kind) {
      case 'write':
        return { state: input.value };
      case 'add': {
        const sum = (state ?? 0) + input.by;
        return output === undefined || output.value === sum ? { state: sum } : undefined;
      }
      case 'read':
        return output === undefined || output.value === state ? { state } : undefined;
      case 'delete':
        return { state: null };
      default:
        return input satisfies never;
    }
  },
  nameOf: String,
};
