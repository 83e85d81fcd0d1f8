/**
 * Draws a picture in a process of its own, which is gone afterwards. A thread would not do: libvips works on threads of the pool, which no end of
 * a worker stops, and its memory is not that of the thread.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { constants, setPriority } from 'node:os';
import { pipeline } from 'node:stream/promises';
import type { Clock } from '../../../../../actors/runtime/ports.ts';
import { LIMITS } from '../../../../../protocol/core/limits.ts';
import { groupMemoryBytes } from '../../../artifacts/thumbnails/chromium/group-memory.ts';
import type { DrawPicture, Pictured } from './queue.ts';
import { PICTURE_BYTES_MAX } from './rules.ts';

const MEMORY_LOOK_MS = 100;

/** `clock`: of the real time, also where a test moves the service's. */
export function drawingIn(file: string, clock: Clock): DrawPicture {
  return async (pictured, signal) => {
    signal.throwIfAborted();
    const child = spawn(process.execPath, [`--max-old-space-size=${LIMITS.assetPictureHeapMbMax}`, file, pictured.mimeType], {
      // Neither settings nor secrets of the service are in it. A group of its own, so that its memory can be told.
      env: {},
      stdio: ['pipe', 'pipe', 'ignore'],
      detached: true,
    });
    let cause = 'the file cannot be read as an image';
    const kill = (why: string) => {
      cause = why;
      child.kill('SIGKILL');
    };
    const deadline = clock.after(LIMITS.assetPictureMsMax, () => kill('the picture took too long'));
    const aborted = () => kill('the service stops');
    signal.addEventListener('abort', aborted, { once: true });
    const looking = watchMemory(child, clock, () => kill('the picture took too much memory'));
    try {
      const exited = once(child, 'close') as Promise<[number | null]>;
      if (child.pid !== undefined) setPriority(child.pid, constants.priority.PRIORITY_LOW);
      const drawn = collect(child, () => kill('the picture is too large'));
      const sent = send(pictured, child, () => kill('the file cannot be read from the object store'));
      const [[code]] = await Promise.all([exited, sent]);
      if (code !== 0) throw new Error(cause);
      return drawn();
    } finally {
      if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL');
      deadline.cancel();
      looking.stop();
      signal.removeEventListener('abort', aborted);
    }
  };
}

/** `unreadable`: called where the file is not there, which is not to be drawn as far as it came. */
async function send({ sizeBytes, bytes }: Pictured, { stdin }: ChildProcess, unreadable: () => void): Promise<void> {
  async function* chunks() {
    try {
      // A chunk is valid until the next is asked for, and the pipe keeps several.
      for await (const chunk of bytes(0, sizeBytes - 1)) yield Buffer.from(chunk);
    } catch (error) {
      unreadable();
      throw error;
    }
  }
  // A process that ends before it has read all of it says why by its end.
  if (stdin !== null) await pipeline(chunks(), stdin).catch(() => undefined);
}

/** Answers what the process has written, once it has ended. */
function collect(child: ChildProcess, tooMuch: () => void): () => Buffer {
  const parts: Buffer[] = [];
  let bytes = 0;
  child.stdout?.on('data', (part: Buffer) => {
    bytes += part.length;
    if (bytes > PICTURE_BYTES_MAX) tooMuch();
    else parts.push(part);
  });
  return () => Buffer.concat(parts);
}

function watchMemory(child: ChildProcess, clock: Clock, tooMuch: () => void): { stop(): void } {
  let isOver = false;
  let timer = clock.after(MEMORY_LOOK_MS, look);
  async function look(): Promise<void> {
    const bytes = child.pid === undefined ? 0 : await groupMemoryBytes(child.pid);
    if (isOver) return;
    if (bytes > LIMITS.assetPictureMemoryBytesMax) tooMuch();
    else timer = clock.after(MEMORY_LOOK_MS, look);
  }
  return {
    stop() {
      isOver = true;
      timer.cancel();
    },
  };
}
