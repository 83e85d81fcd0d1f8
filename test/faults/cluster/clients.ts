/** Clients that call any node of a cluster and take down what they were answered. */
import type { Random } from '../../support/random.ts';
import type { ClusterNodeProcess } from './cluster.ts';
import { APART, type History } from './history.ts';
import type { KeyInput, KeyOutput } from './linearizability.ts';

export interface Target {
  readonly artifactId: string;
  readonly token: string;
}

/** Of each artifact; few, so that calls meet. */
export const KEYS = ['a', 'b'];
/** Of each artifact together; its limit is 1000 calls a minute. */
const CALLS_PER_S = 12;
/** A node that answers nothing at all is given up after so long; the call's outcome is then unknown. */
const PATIENCE_MS = 15_000;

/** Each asks one call after the other, as a process in Jepsen does. */
export class Clients {
  readonly #nodes: readonly ClusterNodeProcess[];
  readonly #history: History;
  readonly #random: Random;
  readonly #stopping = new AbortController();
  readonly #running: Promise<void>[] = [];
  #nextValue = 1;

  constructor(nodes: readonly ClusterNodeProcess[], history: History, random: Random) {
    this.#nodes = nodes;
    this.#history = history;
    this.#random = random;
  }

  /** Starts so many clients for each of the artifacts. */
  start(targets: readonly Target[], each: number): void {
    const pauseMs = (1000 * each) / CALLS_PER_S;
    for (const target of targets) for (let at = 0; at < each; at += 1) this.#running.push(this.#run(target, pauseMs));
  }

  /** Lets every client end its call. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await Promise.all(this.#running);
  }

  async #run(target: Target, pauseMs: number): Promise<void> {
    while (!this.#stopping.signal.aborted) {
      const input = this.#choose();
      const node = this.#random.pick(this.#nodes);
      const key = this.#random.pick(KEYS);
      const beganAt = performance.now();
      const output = await callKey(node.baseUrl, target, key, input);
      const endedAt = performance.now();
      if (output !== 'refused') this.#history.add(`${target.artifactId}/${key}`, { input, output, beganAt, endedAt });
      await new Promise((resolve) => setTimeout(resolve, pauseMs * (0.5 + this.#random.next())));
    }
  }

  #choose(): KeyInput {
    const dice = this.#random.next();
    if (dice < 0.4) return { kind: 'read' };
    if (dice < 0.7) return { kind: 'add', by: 1 };
    if (dice < 0.95) {
      this.#nextValue += APART;
      return { kind: 'write', value: this.#nextValue };
    }
    return { kind: 'delete' };
  }
}

/** What one call answered. Undefined where that is unknown; `refused` where it certainly did nothing. */
export async function callKey(baseUrl: string, target: Target, key: string, input: KeyInput): Promise<KeyOutput | undefined | 'refused'> {
  const url = `${baseUrl}/v1/data/${target.artifactId}/json/${key}`;
  const headers = { authorization: `Bearer ${target.token}`, 'content-type': 'application/json' };
  let status: number;
  let text: string;
  try {
    const answer = await fetch(url, { ...requestOf(input), headers, signal: AbortSignal.timeout(PATIENCE_MS) });
    ({ status } = answer);
    text = await answer.text();
  } catch {
    return undefined;
  }
  if (status === 429) return 'refused';
  if (status >= 500) return undefined;
  return outputOf(input, status, text);
}

function requestOf(input: KeyInput): { readonly method: string; readonly body?: string } {
  switch (input.kind) {
    case 'read':
      return { method: 'GET' };
    case 'write':
      return { method: 'PUT', body: String(input.value) };
    case 'add':
      return { method: 'PATCH', body: JSON.stringify({ op: 'increment', path: '$', by: input.by }) };
    case 'delete':
      return { method: 'DELETE' };
    default:
      return input satisfies never;
  }
}

/** Any other answer is a defect and fails the test. */
function outputOf(input: KeyInput, status: number, text: string): KeyOutput {
  const isMissing = status === 404 && text.includes('KEY_NOT_FOUND');
  if (isMissing && (input.kind === 'read' || input.kind === 'delete')) return { value: null };
  if (status !== 200 && status !== 201) throw new Error(`${JSON.stringify(input)} was answered with ${status}: ${text}`);
  if (input.kind === 'write') return { value: input.value };
  if (input.kind === 'delete') return { value: null };
  return { value: JSON.parse(text).data.value };
}
