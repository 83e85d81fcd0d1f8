/** Followers of the `json` channel of artifacts: each comes back to any node after every close, resumes by seq, and must miss nothing. */
import { WebSocket } from 'ws';
import { serverFrame } from '../../../protocol/data/realtime.ts';
import type { Random } from '../../support/random.ts';
import type { Target } from './clients.ts';
import type { ClusterNodeProcess } from './cluster.ts';

/** A node that does not answer an upgrade is left for another. */
const HANDSHAKE_MS = 5000;
/** Less than the pause between two heartbeats of the server, so that a node that is paused is noticed. */
const SILENCE_MS = 30_000;
const COMES_BACK_AFTER_MS = 200;

export class Follower {
  readonly target: Target;
  /** The value of each key as the events tell it. */
  readonly values = new Map<string, unknown>();
  readonly faults: string[] = [];
  readonly #nodes: readonly ClusterNodeProcess[];
  readonly #random: Random;
  readonly #stopping = new AbortController();
  readonly #running: Promise<void>;
  #seq = 0;
  #opened = 0;

  constructor(nodes: readonly ClusterNodeProcess[], target: Target, random: Random) {
    this.#nodes = nodes;
    this.target = target;
    this.#random = random;
    this.#running = this.#run();
  }

  /** How often it has come to a node. */
  get opened(): number {
    return this.#opened;
  }

  /** The seq of the last event. */
  get seq(): number {
    return this.#seq;
  }

  stop(): Promise<void> {
    this.#stopping.abort();
    return this.#running;
  }

  async #run(): Promise<void> {
    while (!this.#stopping.signal.aborted) {
      await this.#follow(this.#random.pick(this.#nodes));
      await new Promise((resolve) => setTimeout(resolve, COMES_BACK_AFTER_MS));
    }
  }

  /** Until the connection ends. */
  async #follow(node: ClusterNodeProcess): Promise<void> {
    const url = `${node.baseUrl.replace('http', 'ws')}/v1/data/${this.target.artifactId}/channels`;
    const headers = { authorization: `Bearer ${this.target.token}` };
    const socket = new WebSocket(url, { headers, handshakeTimeout: HANDSHAKE_MS, perMessageDeflate: false });
    const quit = () => socket.terminate();
    this.#stopping.signal.addEventListener('abort', quit);
    let silence: NodeJS.Timeout | undefined;
    const heard = () => {
      clearTimeout(silence);
      silence = setTimeout(quit, SILENCE_MS);
    };
    heard();
    socket.on('error', () => undefined);
    socket.on('ping', heard);
    socket.on('message', (data) => {
      heard();
      this.#take(socket, String(data));
    });
    // Not `once` of node:events, which rejects when the upgrade is refused.
    await new Promise((resolve) => socket.once('close', resolve));
    clearTimeout(silence);
    this.#stopping.signal.removeEventListener('abort', quit);
  }

  #take(socket: WebSocket, text: string): void {
    const frame = serverFrame.parse(JSON.parse(text));
    switch (frame.type) {
      case 'hello':
        this.#opened += 1;
        socket.send(JSON.stringify({ type: 'subscribe', channel: 'json', since: this.#seq }));
        break;
      case 'ping':
        socket.send('{"type":"pong"}');
        break;
      case 'reset':
        this.faults.push(`${this.target.artifactId}: what was missed after ${this.#seq} is not kept`);
        break;
      case 'event':
        if (frame.channel === 'json' && 'key' in frame)
          this.#event(frame.seq, frame.key ?? '', frame.kind === 'json.put' ? frame.data : null);
        break;
    }
  }

  #event(seq: number, key: string, value: unknown): void {
    if (seq <= this.#seq) this.faults.push(`${this.target.artifactId}: event ${seq} came after ${this.#seq}`);
    this.#seq = seq;
    this.values.set(key, value);
  }
}
