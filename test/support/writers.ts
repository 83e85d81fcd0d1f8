/** Writers that load a running service with JSON keys and remember exactly what it acknowledged. */
import type { Program } from './program.ts';

interface KeyHistory {
  /** The last value that was answered with success; 0 before the first. */
  acknowledged: number;
  /** The last value that was sent; its outcome may be unknown. */
  sent: number;
}

export interface Target {
  readonly artifactId: string;
  readonly token: string;
}

const WRITERS_PER_ARTIFACT = 8;
const KEYS_PER_WRITER = 5;

/** Publishes `count` artifacts of a new account. */
export async function publishTargets(program: Program, count: number): Promise<readonly Target[]> {
  const { token } = await call(`${program.baseUrl}/v1/auth/create-account`, { method: 'POST' });
  return Promise.all(
    Array.from({ length: count }, async (_, i) => {
      const body = { name: `Load ${i}`, files: [{ path: 'index.html', content: '<h1>load</h1>' }], entrypoint: 'index.html' };
      const published = await call(`${program.baseUrl}/v1/publish`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
      return { artifactId: published.artifact_id, token };
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
  #enough: { readonly count: number; readonly reached: () => void } | undefined;

  constructor(targets: readonly Target[]) {
    this.#targets = targets;
  }

  /** Writes to `baseUrl` until the service stops answering with success. Each key counts up by one writer. */
  async run(baseUrl: string): Promise<void> {
    const writers = this.#targets.flatMap((target) =>
      Array.from({ length: WRITERS_PER_ARTIFACT }, (_, writer) => this.#write(baseUrl, target, writer)),
    );
    await Promise.all(writers);
  }

  /** Resolves when so many writes more have been acknowledged. */
  acknowledgedMore(count: number): Promise<void> {
    return new Promise((reached) => {
      this.#enough = { count: this.#acknowledged + count, reached };
    });
  }

  /** Keys whose stored value is older than what was acknowledged, or was never sent. Empty when nothing is lost. */
  async findLosses(baseUrl: string): Promise<readonly string[]> {
    const losses: string[] = [];
    for (const [name, { acknowledged, sent }] of this.#keys) {
      const stored = await this.#read(baseUrl, name);
      if (stored < acknowledged || stored > sent) losses.push(`${name}: acknowledged ${acknowledged}, sent ${sent}, stored ${stored}`);
    }
    return losses;
  }

  get acknowledgedWrites(): number {
    return this.#acknowledged;
  }

  async #write(baseUrl: string, { artifactId, token }: Target, writer: number): Promise<void> {
    for (let i = 0; ; i++) {
      const name = `${artifactId}/json/w${writer}-k${i % KEYS_PER_WRITER}`;
      const history = this.#keys.get(name) ?? { acknowledged: 0, sent: 0 };
      this.#keys.set(name, history);
      history.sent += 1;
      const ok = await fetch(`${baseUrl}/v1/data/${name}`, {
        method: 'PUT',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: JSON.stringify({ n: history.sent }),
      }).then(
        (response) => response.ok,
        // The connection broke: the outcome is unknown, and so is not counted.
        () => false,
      );
      if (!ok) return;
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
