/** A victim that keeps working on its own artifact while an attack runs, and requests from other addresses of the loopback network. */
import { Agent, type IncomingHttpHeaders, request } from 'node:http';
import type { TestEasel, TestUser } from '../../support/easel.ts';
import { published } from '../../support/requests.ts';

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

export interface Request {
  readonly method?: string;
  readonly path: string;
  readonly token?: string | undefined;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
}

/** What a victim did while the attack ran. */
export interface Work {
  readonly calls: number;
  /** Every answer but the expected one: `PUT json/work-3: 503`. Must be empty. */
  readonly refused: readonly string[];
  readonly longestMs: number;
}

/** The addresses of attackers: each counts as a network of its own. The victim's is 127.0.0.1. */
export function attackerAddress(index = 0): string {
  return `127.0.${1 + Math.floor(index / 250)}.${2 + (index % 250)}`;
}

/** Calls the API from an address of its own, over one connection at a time. */
export class Caller {
  readonly #port: number;
  readonly #address: string;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1 });

  constructor({ port }: Pick<TestEasel, 'port'>, address: string) {
    this.#port = port;
    this.#address = address;
  }

  call({ method = 'GET', path, token, headers = {}, body }: Request): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const sent = request(
        {
          host: '127.0.0.1',
          port: this.#port,
          localAddress: this.#address,
          agent: this.#agent,
          method,
          path,
          headers: {
            ...(token !== undefined && { authorization: `Bearer ${token}` }),
            ...(body !== undefined && { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }),
            ...headers,
          },
        },
        (reply) => {
          const chunks: Buffer[] = [];
          reply.on('data', (chunk: Buffer) => chunks.push(chunk));
          reply.on('end', () => resolve({ status: reply.statusCode ?? 0, headers: reply.headers, text: Buffer.concat(chunks).toString() }));
          reply.on('error', reject);
        },
      );
      sent.on('error', reject);
      sent.end(body);
    });
  }

  close(): void {
    this.#agent.destroy();
  }
}

export class Victim {
  readonly artifactId: string;
  readonly owner: TestUser;
  readonly #caller: Caller;
  #round = 0;

  private constructor(easel: TestEasel, owner: TestUser, artifactId: string) {
    this.#caller = new Caller(easel, '127.0.0.1');
    this.owner = owner;
    this.artifactId = artifactId;
  }

  static async of(easel: TestEasel): Promise<Victim> {
    const owner = await easel.newUser();
    return new Victim(easel, owner, (await published(easel, owner)).id);
  }

  /** Works until the attack settles, at least `roundsMin` rounds; rejects as the attack does. */
  async during(attack: Promise<unknown>, roundsMin = 10): Promise<Work> {
    let isOver = false;
    const settled = attack.finally(() => {
      isOver = true;
    });
    settled.catch(() => undefined);
    const refused: string[] = [];
    const firstRound = this.#round;
    let longestMs = 0;
    let calls = 0;
    const expect = async (request: Request, isExpected: (answer: Answer) => boolean) => {
      const startedMs = performance.now();
      const answer = await this.#caller.call(request).catch((error: Error): Answer => ({ status: 0, headers: {}, text: error.message }));
      longestMs = Math.max(longestMs, performance.now() - startedMs);
      calls += 1;
      if (!isExpected(answer)) refused.push(`${request.method ?? 'GET'} ${request.path}: ${answer.status} ${answer.text.slice(0, 200)}`);
    };
    // The artifact's own limit is 1000 calls a minute, and a virtual clock may stand still.
    while (!isOver || this.#round - firstRound < roundsMin) {
      this.#round += 1;
      const round = this.#round;
      await expect({ path: '/healthz' }, ({ status }) => status === 200);
      if (round - firstRound > 400) continue;
      const path = `/v1/data/${this.artifactId}/json/work`;
      const { token } = this.owner;
      await expect({ method: 'PUT', path, token, body: JSON.stringify({ round }) }, ({ status }) => status === 200 || status === 201);
      // Its own writes come back in their order: nothing is lost and nothing is stale.
      await expect({ path, token }, ({ status, text }) => status === 200 && JSON.parse(text).data?.value?.round === round);
    }
    await settled;
    return { calls, refused, longestMs };
  }

  close(): void {
    this.#caller.close();
  }
}
