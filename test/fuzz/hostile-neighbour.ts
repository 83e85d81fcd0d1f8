/** A stranger who attacks the service while others are tested: costly requests, answers that he does not read, and floods of sync requests. */
import { connect, type Socket } from 'node:net';
import { WebSocket } from 'ws';
import { frameSyncStep1 } from '../../src/realtime/wire.ts';
import { attackerAddress, Caller } from '../faults/neighbours/neighbour-stage.ts';
import type { Program } from '../support/program.ts';
import { publishTargets, type Target } from '../support/writers.ts';

const ROWS = 500;
const INCREMENTS = 50;
const UNREAD_CONNECTIONS = 10;
/** Pause of a lane, so that the attack does not only compete for the machine. */
const PAUSE_MS = 20;

export class HostileNeighbour {
  readonly #port: number;
  readonly #target: Target;
  readonly #caller: Caller;
  #answers = 0;

  private constructor(port: number, target: Target) {
    this.#port = port;
    this.#target = target;
    this.#caller = new Caller({ port }, attackerAddress());
  }

  /** Answers of any status that the attack has had. */
  get answers(): number {
    return this.#answers;
  }

  static async of(program: Program): Promise<HostileNeighbour> {
    const [target] = await publishTargets(program, 1);
    if (target === undefined) throw new Error('nothing was published');
    const neighbour = new HostileNeighbour(Number(new URL(program.baseUrl).port), target);
    const rows = Array.from({ length: ROWS }, (_, n) => ({ n, text: 'lorem ipsum '.repeat(50) }));
    await neighbour.#call('POST', '/tables/rows', JSON.stringify({ rows }));
    await neighbour.#call('PUT', '/json/big', JSON.stringify({ n: 0, list: Array.from({ length: 50_000 }, (_, at) => at) }));
    return neighbour;
  }

  /** Attacks until the work settles. What it opened is closed then. */
  async during<T>(work: () => Promise<T>): Promise<T> {
    const ending = new AbortController();
    const attack = Promise.all([this.#costlyCalls(ending.signal), this.#syncRequests(ending.signal)]);
    const unread = this.#unreadAnswers();
    try {
      return await work();
    } finally {
      ending.abort();
      for (const socket of unread) socket.destroy();
      await attack;
    }
  }

  close(): void {
    this.#caller.close();
  }

  async #call(method: string, path: string, body: string): Promise<void> {
    const { artifactId, token } = this.#target;
    await this.#caller.call({ method, path: `/v1/data/${artifactId}${path}`, token, body }).then(
      () => {
        this.#answers += 1;
      },
      // The service may close the connection of an attacker.
      () => undefined,
    );
  }

  async #costlyCalls(signal: AbortSignal): Promise<void> {
    const junk = `{"rows":[${'{},'.repeat(300_000)}{}]}`;
    const increments = Array.from({ length: INCREMENTS }, () => ({
      method: 'PATCH',
      path: '/json/big',
      body: { op: 'increment', path: '$.n', by: 1 },
    }));
    const filter = { $or: Array.from({ length: 30 }, (_, at) => ({ text: { $contains: `absent ${at}` } })) };
    while (!signal.aborted) {
      await this.#call('POST', '/tables/rows', junk);
      await this.#call('POST', '/batch', JSON.stringify({ atomic: true, requests: increments }));
      await this.#call('POST', '/tables/rows/count', JSON.stringify({ filter }));
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
  }

  #unreadAnswers(): Socket[] {
    const { artifactId, token } = this.#target;
    const request = `GET /v1/data/${artifactId}/tables/rows/rows?limit=500 HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\n\r\n`;
    return Array.from({ length: UNREAD_CONNECTIONS }, () => {
      const socket = connect({ host: '127.0.0.1', port: this.#port, localAddress: attackerAddress() });
      socket.on('error', () => undefined);
      socket.on('connect', () => socket.write(request));
      socket.pause();
      return socket;
    });
  }

  async #syncRequests(signal: AbortSignal): Promise<void> {
    const { artifactId, token } = this.#target;
    const frame = frameSyncStep1(new Uint8Array([0]), undefined);
    while (!signal.aborted) {
      const socket = new WebSocket(`ws://127.0.0.1:${this.#port}/v1/data/${artifactId}/realtime/notes?token=${token}`, {
        localAddress: attackerAddress(),
      });
      socket.on('error', () => undefined);
      await new Promise((resolve) => socket.once('open', resolve).once('close', resolve));
      for (let count = 0; count < 100 && socket.readyState === WebSocket.OPEN; count += 1) socket.send(frame);
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
      socket.terminate();
    }
  }
}
