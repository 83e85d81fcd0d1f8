/** An object store whose every call has a deadline: a store that hangs is answered as one that is away. */
import type { Clock, Timer } from '../../actors/runtime/ports.ts';
import type { DirectObjects, ObjectStore } from './objects.ts';
import { isStoreAway, StoreUnavailable } from './unavailable.ts';

/** Callers are answered within 5 s. */
const ANSWER_MS = 4000;
/** The slowest store whose writes are awaited. */
const BYTES_PER_MS_MIN = 16_000;

/** `clock` is of real time. A call that is given up goes on and its outcome is not used: objects are named by their content, so a late write does no harm. */
export function timedObjects(store: ObjectStore, clock: Clock): ObjectStore {
  const inTime = <T>(work: Promise<T>, bytes = 0): Promise<T> => withDeadline(work, ANSWER_MS + bytes / BYTES_PER_MS_MIN, clock);
  return {
    put: (sha256, bytes) => inTime(store.put(sha256, bytes), bytes.byteLength),
    putFile: (sha256, path, sizeBytes) => inTime(store.putFile(sha256, path, sizeBytes), sizeBytes),
    has: (sha256) => inTime(store.has(sha256)),
    read: (sha256) => inTime(store.read(sha256)),
    readRange: (sha256, start, end) => timedChunks(store.readRange(sha256, start, end), clock),
    delete: (sha256) => inTime(store.delete(sha256)),
    ready: () => store.ready(),
    probe: () => store.probe(),
    ...(store.direct !== undefined && { direct: timedDirect(store.direct, inTime, clock) }),
  };
}

type InTime = <T>(work: Promise<T>) => Promise<T>;

function timedDirect(direct: DirectObjects, inTime: InTime, clock: Clock): DirectObjects {
  return {
    uploadUrl: (id, expiresInS) => inTime(direct.uploadUrl(id, expiresInS)),
    claim: (id) => inTime(direct.claim(id)),
    read: (id) => timedChunks(direct.read(id), clock),
    keep: (id, sha256) => inTime(direct.keep(id, sha256)),
    discard: (id) => inTime(direct.discard(id)),
    downloadUrl: (sha256, expiresInS, headers) => inTime(direct.downloadUrl(sha256, expiresInS, headers)),
  };
}

/** Each chunk has the deadline, and only the time counts in which somebody waits for it. */
async function* timedChunks(chunks: AsyncIterable<Uint8Array>, clock: Clock): AsyncGenerator<Uint8Array> {
  const iterator = chunks[Symbol.asyncIterator]();
  let isOver = false;
  try {
    for (;;) {
      const next = await withDeadline(iterator.next(), ANSWER_MS, clock);
      if (next.done) {
        isOver = true;
        return;
      }
      yield next.value;
    }
  } finally {
    // Not awaited: where the store hangs, the end of the iteration hangs as well.
    if (!isOver) iterator.return?.().catch(() => undefined);
  }
}

async function withDeadline<T>(work: Promise<T>, deadlineMs: number, clock: Clock): Promise<T> {
  let timer: Timer | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = clock.after(deadlineMs, () => reject(new StoreUnavailable(`The object store did not answer within ${deadlineMs} ms.`)));
  });
  try {
    return await Promise.race([work, late]);
  } catch (error) {
    if (isStoreAway(error)) throw new StoreUnavailable('The object store cannot be reached.', { cause: error });
    throw error;
  } finally {
    timer?.cancel();
  }
}
