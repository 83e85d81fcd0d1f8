/** Bodies that are produced while they are sent: what a handler returns for them, and how an async iterable becomes one. */

export interface ReplyStream {
  /** A length that is known in advance becomes the Content-Length; exactly so many bytes must be written. */
  readonly lengthBytes?: number;
  /** The stream never ends by itself (events), so a draining server ends it instead of waiting. */
  readonly endless?: boolean;
  /**
   * Called before the head of an answer with this body is written, so that what is missing can still be answered as a failure. Then either
   * `start` or `abandon` follows.
   */
  prepare?(): Promise<void>;
  /** Called once, after the head of the answer is written, and never for HEAD, 304 or a client that has gone. Open resources in here. */
  start(sink: ReplySink): void;
  /** Called in place of `start` where the client has gone meanwhile, or is answered otherwise. */
  abandon?(): void;
}

/** After `end`, `fail` or `onClose` everything written is dropped. */
export interface ReplySink {
  /** Takes the chunk. False where the client reads too slowly: stop until `onDrain`. */
  write(chunk: Uint8Array | string): boolean;
  end(): void;
  /** Aborts the connection, so that the client cannot take a partial body for the whole. */
  fail(error: unknown): void;
  onDrain(run: () => void): void;
  /** Runs when the client has gone or the server ends an endless stream, at once if that has already happened. */
  onClose(run: () => void): void;
}

/** Reads the next chunk when the last one has left, and ends the iteration when the client has gone. */
export function streamOf(chunks: AsyncIterable<Uint8Array | string>, lengthBytes?: number): ReplyStream {
  const iterator = chunks[Symbol.asyncIterator]();
  let first: IteratorResult<Uint8Array | string> | undefined;
  return {
    ...(lengthBytes !== undefined && { lengthBytes }),
    async prepare() {
      first = await iterator.next();
    },
    abandon: () => void iterator.return?.()?.catch(() => undefined),
    start: (sink) => void pump(from(first, iterator), sink),
  };
}

/** The chunk that was read already, and those that follow it. */
async function* from<T>(first: IteratorResult<T> | undefined, iterator: AsyncIterator<T>): AsyncGenerator<T> {
  try {
    for (let next = first ?? (await iterator.next()); !next.done; next = await iterator.next()) yield next.value;
  } finally {
    await iterator.return?.();
  }
}

async function pump(chunks: AsyncIterable<Uint8Array | string>, sink: ReplySink): Promise<void> {
  let closed = false;
  let wake: (() => void) | undefined;
  sink.onDrain(() => wake?.());
  sink.onClose(() => {
    closed = true;
    wake?.();
  });
  try {
    for await (const chunk of chunks) {
      if (closed) break;
      if (!sink.write(chunk)) {
        await new Promise<void>((resolve) => {
          wake = resolve;
          if (closed) resolve();
        });
      }
      if (closed) break;
    }
    sink.end();
  } catch (error) {
    sink.fail(error);
  }
}
