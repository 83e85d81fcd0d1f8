/** How long artifacts take no writes while the node that owns them dies or stops. */
import { Agent, request } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';

/** Between two writes of an artifact. With less the writes of 200 artifacts alone would fill the core that all nodes share. */
const PAUSE_MS = 400;
/** After a write that failed. */
const AGAIN_MS = 10;
const PATIENCE_MS = 20_000;

/** Writes to every artifact through one node, again and again, each write until it is accepted. */
export class Writers {
  readonly #origin: string;
  readonly #token: string;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 256 });
  readonly #stopping = new AbortController();
  readonly #running: Promise<void>[];
  /** Of each artifact: what its longest write took, from the first attempt until it was accepted, in ms. */
  #longest: Map<string, number>;

  constructor(origin: string, token: string, artifactIds: readonly string[]) {
    this.#origin = origin;
    this.#token = token;
    this.#longest = new Map(artifactIds.map((id) => [id, 0]));
    this.#running = artifactIds.map((id, at) => this.#run(id, (at * PAUSE_MS) / artifactIds.length));
  }

  /** Forgets what was measured before. */
  begin(): void {
    for (const id of this.#longest.keys()) this.#longest.set(id, 0);
  }

  /** Resolves when every artifact has taken at least two more writes: none is in an outage. */
  async settled(): Promise<void> {
    const missing = new Set(this.#longest.keys());
    this.#written = (id) => this.#counted(id, missing);
    while (missing.size > 0) await pause(AGAIN_MS);
    this.#written = () => undefined;
  }

  outages(artifactIds: readonly string[]): number[] {
    return artifactIds.map((id) => this.#longest.get(id) ?? 0);
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await Promise.all(this.#running);
    this.#agent.destroy();
  }

  #written: (id: string) => void = () => undefined;
  readonly #counts = new Map<string, number>();

  #counted(id: string, missing: Set<string>): void {
    const count = (this.#counts.get(id) ?? 0) + 1;
    this.#counts.set(id, count % 2);
    if (count === 2) missing.delete(id);
  }

  async #run(id: string, phaseMs: number): Promise<void> {
    await pause(phaseMs);
    while (!this.#stopping.signal.aborted) {
      const beganMs = performance.now();
      while ((await this.#write(id)) !== 200 && !this.#stopping.signal.aborted) {
        if (performance.now() - beganMs > PATIENCE_MS) throw new Error(`${id} takes no writes for ${PATIENCE_MS} ms.`);
        await pause(AGAIN_MS);
      }
      this.#longest.set(id, Math.max(this.#longest.get(id) ?? 0, performance.now() - beganMs));
      this.#written(id);
      await pause(PAUSE_MS);
    }
  }

  /** The status; 0 where there was no answer. */
  #write(id: string): Promise<number> {
    return new Promise((resolve) => {
      const headers = { authorization: `Bearer ${this.#token}`, 'content-type': 'application/json' };
      const asked = request(`${this.#origin}/v1/data/${id}/json/outage`, { method: 'PUT', headers, agent: this.#agent });
      asked.on('error', () => resolve(0));
      asked.on('response', (answer) => {
        answer.resume();
        answer.on('error', () => resolve(0));
        answer.on('end', () => resolve(answer.statusCode === 201 ? 200 : (answer.statusCode ?? 0)));
      });
      asked.end('1');
    });
  }
}
