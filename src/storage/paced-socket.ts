/** Reads large answers of the database in slices, so that four answers of 4 MB do not keep the event loop for 50 ms. */
import { connect, type NetConnectOpts, type Socket } from 'node:net';
import { type LoopTurns, loopTurns } from '../platform/loop-turns.ts';
import { MessageFrames } from './message-frames.ts';

/** A full chunk is followed by more, and libuv would read 32 of them before anything else has its turn. */
const CHUNK_BYTES = 64 * 1024;

let sockets = 0;

/**
 * Connects, and pauses after every full chunk until the next slice; the client's own work on the chunk counts. All chunks are read into the same
 * memory, and handed on as whole messages. Not for TLS, where the client reads from a socket of its own.
 */
export function pacedSocket(target: NetConnectOpts, loop: Pick<LoopTurns, 'worked' | 'run'> = loopTurns): Socket {
  sockets += 1;
  const lane = `database ${sockets}`;
  const frames = new MessageFrames((messages) => void socket.emit('data', messages));
  const read = (bytes: number, chunk: Uint8Array): boolean => {
    const beganMs = performance.now();
    try {
      frames.receive(chunk.subarray(0, bytes));
    } catch (error) {
      socket.destroy(error as Error);
    }
    if (bytes < CHUNK_BYTES) return true;
    socket.pause();
    // What the client does in microtasks is its work on the chunk too.
    queueMicrotask(() => {
      loop.worked(performance.now() - beganMs);
      loop.run(lane, () => void socket.resume());
    });
    return true;
  };
  const socket = connect({ ...target, onread: { buffer: Buffer.alloc(CHUNK_BYTES), callback: read } });
  return socket;
}
