/** Writers that write JSON keys to a running service and record exactly what it acknowledged. */
import type { Program } from './program.ts';

interface KeyHistory {
  /** The last value that was acknowledged; 0 before the first. */
  acknowledged: number;
  /** The last value sent; its outcome may be unknown. */
  sent: number;
}

export interface Target {
  readonly artifactId: string;
  readonly token: string;
}

const WRITERS_PER_ARTIFACT = 8;
const KEYS_PER_WRITER = 5;

/** Publishes `count` artifacts of a new account. */
export async function publishTargets(program: Pick<Program, 'baseUrl'>, count: number): Promise<readonly Target[]> {
  const { token } = await call(`${program.baseUrl}/v1/auth/create-account`, { method: 'POST' });
  return Promise.all(
    Array.from({ length: count }, async (_, i) => {
      const body = { name: `Load ${i}`, files: [{ path: 'index.html', content: '<h1>load</h1>' }], entrypoint: 'index.html' };
      const published = await call(`${program.baseUrl}/v1/publish`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
      return { artifactId: published.artifact.id, token };
    }),
  );
}

// biome-ignore lint/suspicious/noExplicitAny: the answers are checked by what the test does with them.
async function call(url: string, init: RequestInit): Promise<any> {
  const response = await fetch(url, init);
  if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
  return response.json();
}

export class Writers {
  readonly #keys = new Map<string, KeyHistory>();
  readonly #targets: readonly Target[];
  #acknowledged = 0;
  #unavailable = 0;
  #enough: { readonly count: number; readonly reached: () => void; readonly missed: (reason: Error) => void } | undefined;

  constructor(targets: readonly Target[]) {
    this.#targets = targets;
  }

  /**
   * Writes to `baseUrl` until the connection breaks or `signal` fires. A 503 is retried; any other refusal rejects. Each key has one
   * writer, which counts up.
   */
  async run(baseUrl: string, signal?: AbortSignal): Promise<void> {
    const writers = this.#targets.flatMap((target) =>
      Array.from({ length: WRITERS_PER_ARTIFACT }, (_, writer) => this.#write(baseUrl, target, writer, signal)),
    );
    try {
      await Promise.all(writers);
      this.#enough?.missed(new Error('the writers stopped before so many writes were acknowledged'));
    } catch (error) {
      this.#enough?.missed(error instanceof Error ? error : new Error(String(error)));
      throw error;
    }
  }

  /** Resolves after so many more acknowledged writes; rejects when the writers end first. */
  acknowledgedMore(count: number): Promise<void> {
    return new Promise((reached, missed) => {
      this.#enough = { count: this.#acknowledged + count, reached, missed };
    });
  }

  /** The last acknowledged value of each key, now. */
  acknowledged(): ReadonlyMap<string, number> {
    return new Map([...this.#keys].map(([name, { acknowledged }]) => [name, acknowledged]));
  }

  /**
   * Keys whose stored value is older than the acknowledged one, or was never sent. Empty when nothing is lost. `before`: what was acknowledged
   * at the time that is compared; default: now.
   */
  async findLosses(baseUrl: string, before = this.acknowledged()): Promise<readonly string[]> {
    const losses: string[] = [];
    for (const [name, { sent }] of this.#keys) {
      const acknowledged = before.get(name) ?? 0;
      const stored = await this.#read(baseUrl, name);
      if (stored < acknowledged || stored > sent) losses.push(`${name}: acknowledged ${acknowledged}, sent ${sent}, stored ${stored}`);
    }
    return losses;
  }

  /** Answers of 503 so far. */
  get unavailable(): number {
    return this.#unavailable;
  }

  get acknowledgedWrites(): number {
    return this.#acknowledged;
  }

  async #write(baseUrl: string, { artifactId, token }: Target, writer: number, signal?: AbortSignal): Promise<void> {
    for (let i = 0; !signal?.aborted; i++) {
      const name = `${artifactId}/json/w${writer}-k${i % KEYS_PER_WRITER}`;
      const history = this.#keys.get(name) ?? { acknowledged: 0, sent: 0 };
      this.#keys.set(name, history);
      history.sent += 1;
      const status = await put(`${baseUrl}/v1/data/${name}`, token, { n: history.sent });
      if (status === 503) {
        this.#unavailable += 1;
        continue;
      }
      if (status === 0) return;
      if (status !== 200 && status !== 201) throw new Error(`${name} was answered with ${status}`);
      history.acknowledged = history.sent;
      this.#acknowledged += 1;
      if (this.#enough !== undefined && this.#acknowledged >= this.#enough.count) this.#enough.reached();
    }
  }

  async #read(baseUrl: string, name: string): Promise<number> {
    const token = this.#targets[0]?.token;
    const response = await fetch(`${baseUrl}/v1/data/${name}`, { headers: { authorization: `Bearer ${token}` } });
    if (response.status === 404) return 0;
    if (!response.ok) throw new Error(`${name}: ${response.status} ${await response.text()}`);
    const { data } = (await response.json()) as { data: { value: { n: number } } };
    return data.value.n;
  }
}

/** The status, or 0 where the connection broke: then the outcome is unknown. */
function put(url: string, token: string, body: object): Promise<number> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  return fetch(url, { method: 'PUT', headers, body: JSON.stringify(body) }).then(
    async (response) => {
      // An unread body would keep the connection from being reused.
      await response.arrayBuffer();
      return response.status;
    },
    () => 0,
  );
}
