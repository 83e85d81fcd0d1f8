/** Reads an answer to its end: decoded, and never more of it than the caller takes. */
import type { IncomingMessage } from 'node:http';
import { pipeline, type Readable, Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { EgressFailure } from './failure.ts';

/** Codings one inside the other; a chain of them multiplies what little data becomes. */
const CODINGS_MAX = 2;

const DECODERS: Readonly<Record<string, () => Transform>> = {
  gzip: () => createGunzip(),
  'x-gzip': () => createGunzip(),
  deflate: () => createInflate(),
  br: () => createBrotliDecompress(),
};
export const ACCEPTED_CODINGS = 'gzip, deflate, br';

export interface BodyBounds {
  /** Of the decoded body, and of each form that it has before: what comes as little can pass through a stage as very much, and cost its time. */
  readonly bytesMax: number;
  /** Takes room for bytes before they are kept; throws where there is none. */
  readonly take: (bytes: number) => void;
}

/** Throws `EgressFailure` too_large or bad_answer, and what `take` throws. The caller destroys the response. */
export async function readBody(response: IncomingMessage, { bytesMax, take }: BodyBounds): Promise<Buffer> {
  const announced = Number(response.headers['content-length'] ?? 0);
  const decoders = decodersOf(response.headers['content-encoding']);
  if (announced > bytesMax) throw tooLarge(bytesMax);
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of decoded(response, decoders, bytesMax) as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > bytesMax) throw tooLarge(bytesMax);
      take(chunk.length);
      chunks.push(chunk);
    }
  } catch (error) {
    if (error instanceof EgressFailure) throw error;
    throw new EgressFailure('bad_answer', 'The answer ended early, or is not coded as it says.', { cause: error });
  } finally {
    for (const decoder of decoders) decoder.destroy();
  }
  return Buffer.concat(chunks, bytes);
}

function decoded(response: IncomingMessage, decoders: readonly Transform[], bytesMax: number): Readable {
  if (decoders.length === 0) return response;
  const ended = () => {
    // Errors of all of them arrive at the reader of the last one.
  };
  return pipeline([response, ...decoders.flatMap((decoder) => [bounded(bytesMax), decoder])], ended) as Transform;
}

/** Passes at most so many bytes on. */
function bounded(bytesMax: number): Transform {
  let bytes = 0;
  return new Transform({
    transform(chunk: Buffer, _, done) {
      bytes += chunk.length;
      if (bytes > bytesMax) done(tooLarge(bytesMax));
      else done(null, chunk);
    },
  });
}

/** In the order in which they are undone. Throws bad_answer. */
function decodersOf(header: string | undefined): Transform[] {
  const codings = (header ?? '')
    .toLowerCase()
    .split(',')
    .map((coding) => coding.trim())
    .filter((coding) => coding !== '' && coding !== 'identity');
  if (codings.length > CODINGS_MAX) throw new EgressFailure('bad_answer', `The answer is coded ${codings.length} times.`);
  return codings.reverse().map((coding) => {
    const make = Object.hasOwn(DECODERS, coding) ? DECODERS[coding] : undefined;
    if (make === undefined) throw new EgressFailure('bad_answer', 'The answer has a Content-Encoding that is not known.');
    return make();
  });
}

function tooLarge(bytesMax: number): EgressFailure {
  return new EgressFailure('too_large', `The answer is larger than ${bytesMax} bytes.`);
}
