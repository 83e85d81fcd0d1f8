/** What the clients of a cluster asked and were answered, and the check of it. */
import { checkHistory, type KeyInput, type KeyOutput, keyModel, type Operation } from './linearizability.ts';

export type Call = Operation<KeyInput, KeyOutput>;

export class History {
  readonly #calls = new Map<string, Call[]>();
  #answered = 0;
  #unanswered = 0;

  /** Takes down one call of a key. A read without an answer says nothing and is left out. */
  add(key: string, call: Call): void {
    if (call.output === undefined) this.#unanswered += 1;
    else this.#answered += 1;
    if (call.output === undefined && call.input.kind === 'read') return;
    const calls = this.#calls.get(key);
    if (calls === undefined) this.#calls.set(key, [call]);
    else calls.push(call);
  }

  get answered(): number {
    return this.#answered;
  }

  get unanswered(): number {
    return this.#unanswered;
  }

  get keys(): readonly string[] {
    return [...this.#calls.keys()];
  }

  of(key: string): readonly Call[] {
    return this.#calls.get(key) ?? [];
  }

  /** What is wrong with it; empty when every key behaved as one register would. */
  faults(): readonly string[] {
    return this.keys.flatMap((key) => {
      const calls = withoutUnseen(this.of(key)).toSorted((a, b) => a.beganAt - b.beganAt);
      const verdict = checkHistory(calls, keyModel);
      if (verdict.outcome === 'linearizable') return [];
      if (verdict.outcome === 'undecided') return [`${key}: ${calls.length} calls could not be checked within the bound`];
      const missing = calls.filter((_, at) => !verdict.furthest.includes(at) && calls[at]?.output !== undefined);
      return [`${key}: not linearizable; the first calls that fit nowhere:\n${missing.slice(0, 5).map(lineOf).join('\n')}`];
    });
  }
}

/** Writes are so far apart that a sum tells which one it began with. */
export const APART = 1000;
const writtenBy = (value: number | null) => Math.floor((value ?? 0) / APART);

/**
 * Without the writes that have no answer and that nobody has seen. Whether such a write took effect makes no difference: until it was
 * overwritten only calls without an answer came. Each of them would double what has to be tried.
 */
function withoutUnseen(calls: readonly Call[]): readonly Call[] {
  const seen = new Set(calls.map(({ output }) => (output === undefined ? undefined : writtenBy(output.value))));
  return calls.filter(({ input, output }) => output !== undefined || input.kind !== 'write' || seen.has(writtenBy(input.value)));
}

function lineOf({ input, output, beganAt, endedAt }: Call): string {
  return `  ${beganAt.toFixed(1)} … ${endedAt.toFixed(1)} ${JSON.stringify(input)} → ${JSON.stringify(output)}`;
}
