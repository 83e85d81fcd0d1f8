/** What an attacker of the suite `neighbours` has: accounts, open artifacts, and connections from addresses that are not the victim's. */
import { Agent, request } from 'node:http';
import { connect, type Socket } from 'node:net';

export interface Ground {
  readonly port: number;
  /** An account whose tier may publish public pages. */
  readonly token: string;
}

/** `prepare` is not measured. `run` ends soon after the signal is aborted. */
export interface Attack {
  readonly what: string;
  prepare(ground: Ground): Promise<(signal: AbortSignal) => Promise<void>>;
}

export interface Answered {
  readonly status: number;
  readonly text: string;
}

export interface Sent {
  readonly method: string;
  readonly path: string;
  readonly token?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
}

/** Answers by status, for the report: an attack that is not refused anywhere may be too weak. 0: the connection broke. */
export const answers = new Map<number, number>();

/** A loopback address that is not the victim's: each counts as a network of its own. */
export function addressOf(index: number): string {
  return `127.0.${1 + Math.floor(index / 250)}.${2 + (index % 250)}`;
}

/** One keep-alive connection from an address. */
export class Attacker {
  readonly #port: number;
  readonly #address: string;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1 });

  constructor({ port }: Ground, index = 0) {
    this.#port = port;
    this.#address = addressOf(index);
  }

  send({ method, path, token, headers = {}, body }: Sent): Promise<Answered> {
    return new Promise((resolve) => {
      const settle = (status: number, text: string) => {
        answers.set(status, (answers.get(status) ?? 0) + 1);
        resolve({ status, text });
      };
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
          reply.on('end', () => settle(reply.statusCode ?? 0, Buffer.concat(chunks).toString()));
          reply.on('error', () => settle(0, ''));
        },
      );
      sent.on('error', () => settle(0, ''));
      sent.end(body);
    });
  }
}

/** Publishes a public artifact to whose data anonymous callers may write. */
export async function openArtifact(ground: Ground): Promise<string> {
  const owner = new Attacker(ground);
  const files = [{ path: 'index.html', content: '<p>open</p>' }];
  const published = await must(
    owner.send({ method: 'POST', path: '/v1/publish', token: ground.token, body: JSON.stringify({ visibility: 'public', files }) }),
  );
  const { artifact } = JSON.parse(published) as { artifact: { id: string } };
  const settings = JSON.stringify({ allow_anon_write: true, allow_anon_collab: true });
  await must(owner.send({ method: 'PATCH', path: `/v1/artifacts/${artifact.id}`, token: ground.token, body: settings }));
  return artifact.id;
}

/** The text of an answer that must be 2xx. */
export async function must(answered: Promise<Answered>): Promise<string> {
  const { status, text } = await answered;
  if (status < 200 || status > 299) throw new Error(`The attack could not be prepared: ${status} ${text.slice(0, 300)}`);
  return text;
}

/** A connection for each lane of an attack, from addresses of their own. */
export function lanesOf(ground: Ground, lanes: number): (lane: number) => Attacker {
  const attackers = Array.from({ length: lanes }, (_, lane) => new Attacker(ground, lane));
  return (lane) => attackers[lane] as Attacker;
}

/** Repeats `once` in `lanes` lanes until the signal; a lane pauses where its calls fail at once, so that it does not only spin. */
export async function repeat(signal: AbortSignal, lanes: number, once: (lane: number) => Promise<unknown>): Promise<void> {
  const lane = async (index: number) => {
    while (!signal.aborted) {
      const startedMs = performance.now();
      await once(index);
      if (performance.now() - startedMs < 1) await new Promise((resolve) => setTimeout(resolve, 1));
    }
  };
  await Promise.race([Promise.all(Array.from({ length: lanes }, (_, index) => lane(index))), aborted(signal)]);
}

export function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

/** A bare connection that sends this text and never reads. It opens again where the server closes it. */
export function holdConnection({ port }: Ground, index: number, text: string, signal: AbortSignal): void {
  let socket: Socket | undefined;
  const open = () => {
    if (signal.aborted) return;
    socket = connect({ host: '127.0.0.1', port, localAddress: addressOf(index) });
    socket.on('connect', () => socket?.write(text));
    socket.pause();
    socket.on('error', () => undefined);
    socket.on('close', () => {
      answers.set(0, (answers.get(0) ?? 0) + 1);
      setTimeout(open, 20);
    });
  };
  open();
  signal.addEventListener('abort', () => socket?.destroy(), { once: true });
}
