/** One connection of the generator: joins a document and then only counts messages. */
import { WebSocket } from 'ws';
import { type Codec, codecOf, type Dialect, EMPTY_UPDATE, EMPTY_VECTOR } from './wire.ts';

export interface Place {
  readonly url: string;
  readonly dialect: Dialect;
  /** Name of the document inside the frames; not used by y-websocket. */
  readonly document: string;
  readonly token: string;
}

const JOIN_DEADLINE_MS = 60_000;

export class Client {
  /** Called with updates of others; with y-websocket also with the echo of its own. */
  onUpdate: (update: Uint8Array) => void = () => undefined;
  /** Called when the server acknowledges an update of this client as stored. */
  onSaved: () => void = () => undefined;
  closedBy: string | undefined;
  readonly #socket: WebSocket;
  readonly #codec: Codec;
  /** Replies to the server's step 1, which the server acknowledges like updates. */
  #unacknowledged = 0;
  #onState: ((state: Uint8Array) => void) | undefined;
  #onClosed: ((why: Error) => void) | undefined;

  private constructor({ url, dialect, document, token }: Place) {
    this.#codec = codecOf(dialect, document);
    this.#socket = new WebSocket(url, { perMessageDeflate: false, skipUTF8Validation: true, maxPayload: 256 * 1024 * 1024 });
    this.#socket.binaryType = 'nodebuffer';
    this.#socket.on('message', (frame: Buffer) => this.#hear(frame));
    this.#socket.on('open', () => {
      const auth = this.#codec.auth(token);
      if (auth !== undefined) this.#socket.send(auth);
      this.#socket.send(this.#codec.step1(EMPTY_VECTOR));
    });
    this.#socket.on('error', (error) => this.#ended(error.message));
    this.#socket.on('close', (code) => this.#ended(`closed with ${code}`));
  }

  /** Resolves with the client and the document state from the server. */
  static join(place: Place): Promise<{ client: Client; state: Uint8Array }> {
    return new Promise((resolve, reject) => {
      const client = new Client(place);
      const deadline = setTimeout(() => reject(new Error(`${place.url} did not sync in time`)), JOIN_DEADLINE_MS);
      client.#onClosed = (why) => {
        clearTimeout(deadline);
        reject(why);
      };
      client.#onState = (state) => {
        clearTimeout(deadline);
        client.#onState = undefined;
        client.#onClosed = undefined;
        resolve({ client, state });
      };
    });
  }

  send(update: Uint8Array): void {
    this.#socket.send(this.#codec.update(update));
  }

  close(): void {
    this.#socket.removeAllListeners('close');
    this.#socket.terminate();
  }

  #hear(frame: Buffer): void {
    const heard = this.#codec.read(frame);
    switch (heard.kind) {
      case 'update':
        this.onUpdate(heard.body);
        return;
      case 'saved':
        if (this.#unacknowledged > 0) this.#unacknowledged -= 1;
        else this.onSaved();
        return;
      case 'step1':
        this.#unacknowledged += 1;
        this.#socket.send(this.#codec.step2(EMPTY_UPDATE));
        return;
      case 'step2':
        this.#onState?.(heard.body);
        return;
      case 'denied':
        this.#ended('denied');
        return;
      case 'authorised':
      case 'other':
        return;
      default:
        heard satisfies never;
    }
  }

  #ended(why: string): void {
    this.closedBy ??= why;
    this.#onClosed?.(new Error(`a connection was ${why}`));
  }
}
