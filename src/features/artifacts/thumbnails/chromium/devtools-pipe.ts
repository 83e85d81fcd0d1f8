/**
 * The DevTools protocol over two pipes: JSON messages that end with a zero byte. Written here because clients for it hand every message of a page
 * to this process, whatever its size; the pages are hostile, so what they can make the browser send is bounded.
 */
import type { Readable, Writable } from 'node:stream';
import { z } from 'zod';

/** A picture takes a few hundred kilobytes. A request is told with its body, which the page chooses. */
const MESSAGE_BYTES_MAX = 2 * 1024 * 1024;
const MESSAGES_MAX = 20_000;
const RECEIVED_BYTES_MAX = 32 * 1024 * 1024;

const message = z.object({
  id: z.number().optional(),
  method: z.string().optional(),
  params: z.unknown().optional(),
  result: z.unknown().optional(),
  error: z.object({ message: z.string() }).optional(),
});

interface Waiting {
  readonly method: string;
  resolve(result: unknown): void;
  reject(error: Error): void;
}

type Listener = (params: unknown) => void;

export class DevtoolsPipe {
  readonly #to: Writable;
  readonly #waiting = new Map<number, Waiting>();
  readonly #listeners = new Map<string, Listener>();
  /** Rejects when nothing can be asked any more. */
  readonly failed: Promise<never>;
  #fail: (error: Error) => void = () => undefined;
  #broken: Error | undefined;
  #lastId = 0;
  #parts: Buffer[] = [];
  #partsBytes = 0;
  #receivedBytes = 0;
  #messages = 0;

  constructor(to: Writable, from: Readable) {
    this.#to = to;
    this.failed = new Promise((_, reject) => {
      this.#fail = reject;
    });
    // What waits for an answer is told too, so not everybody looks at this promise.
    this.failed.catch(() => undefined);
    const ended = () => this.break(new Error('the browser has ended'));
    to.on('error', ended);
    from.on('error', ended);
    from.on('close', ended);
    from.on('data', (bytes: Buffer) => this.#receive(bytes));
  }

  /** One listener for each kind of event. */
  on(method: string, listener: Listener): void {
    this.#listeners.set(method, listener);
  }

  /** Rejects where the browser refuses, and when the pipe breaks. */
  ask(method: string, params: object = {}, sessionId?: string): Promise<unknown> {
    return new Promise((resolve, reject) => {
      if (this.#broken !== undefined) return reject(this.#broken);
      this.#waiting.set(this.#send(method, params, sessionId), { method, resolve, reject });
    });
  }

  /** Without waiting for the answer, which the page could prevent. */
  tell(method: string, params: object, sessionId: string): void {
    if (this.#broken === undefined) this.#send(method, params, sessionId);
  }

  break(error: Error): void {
    if (this.#broken !== undefined) return;
    this.#broken = error;
    this.#parts = [];
    for (const { reject } of this.#waiting.values()) reject(error);
    this.#waiting.clear();
    this.#fail(error);
  }

  #send(method: string, params: object, sessionId: string | undefined): number {
    this.#lastId += 1;
    this.#to.write(`${JSON.stringify({ id: this.#lastId, method, params, sessionId })}\0`);
    return this.#lastId;
  }

  #receive(bytes: Buffer): void {
    if (this.#broken !== undefined) return;
    this.#receivedBytes += bytes.length;
    let from = 0;
    for (let end = bytes.indexOf(0); end !== -1; end = bytes.indexOf(0, from)) {
      this.#parts.push(bytes.subarray(from, end));
      const text = Buffer.concat(this.#parts).toString('utf8');
      this.#parts = [];
      this.#partsBytes = 0;
      this.#messages += 1;
      from = end + 1;
      this.#handle(text);
    }
    this.#parts.push(bytes.subarray(from));
    this.#partsBytes += bytes.length - from;
    if (this.#partsBytes > MESSAGE_BYTES_MAX || this.#receivedBytes > RECEIVED_BYTES_MAX || this.#messages > MESSAGES_MAX) {
      this.break(new Error('the page made the browser send more than a page needs'));
    }
  }

  #handle(text: string): void {
    const parsed = message.safeParse(parseJson(text));
    if (!parsed.success) {
      this.break(new Error('the browser sent something else than a message'));
      return;
    }
    const { id, method, params, result, error } = parsed.data;
    if (method !== undefined) this.#hear(method, params);
    const waiting = id === undefined ? undefined : this.#waiting.get(id);
    if (id === undefined || waiting === undefined) return;
    this.#waiting.delete(id);
    if (error === undefined) waiting.resolve(result);
    else waiting.reject(new Error(`${waiting.method}: ${error.message}`));
  }

  #hear(method: string, params: unknown): void {
    try {
      this.#listeners.get(method)?.(params);
    } catch (error) {
      this.break(new Error(`the event ${method} cannot be handled`, { cause: error }));
    }
  }
}

/** Undefined for what is no JSON. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
