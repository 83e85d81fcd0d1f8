/** Bodies that are made while they are sent: what a handler returns for them, and how an async iterable becomes one. */

export interface ReplyStream {
  /** Known in advance it becomes the Content-Length, and exactly so many bytes must be written. */
  readonly lengthBytes?: number;
  /** It has no end of its own (events): a draining server ends it instead of waiting for it. */
  readonly endless?: boolean;
  /** Called once, when the head of the answer has been written; never for HEAD, 304 or a client that has gone: open what it reads in here. */
  start(sink: ReplySink): void;
}

/** After `end`, `fail` or `onClose` everything written is dropped. */
export interface ReplySink {
  /** False: the client reads too slowly. Stop until `onDrain`; this chunk is taken all the same. */
  write(chunk: Uint8Array | string): boolean;
  end(): void;
  /** Breaks the connection off, so that the client cannot take what it has for the whole. */
  fail(error: unknown): void;
  onDrain(run: () => void): void;
  /** The client has gone, or the server ends an endless stream. At once where that has happened already. */
  onClose(run: () => void): void;
}

/** Asks for the next chunk when the last one has left; ends the iteration when the client has gone. */
export function streamOf(chunks: AsyncIterable<Uint8Array | string>, lengthBytes?: number): ReplyStream {
  return { ...(lengthBytes !== undefined && { lengthBytes }), start: (sink) => void pump(chunks, sink) };
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
