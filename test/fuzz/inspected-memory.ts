/** Measures the live memory of a running program over the inspector, after a garbage collection. */
import { WebSocket } from 'ws';
import type { Program } from '../support/program.ts';

/** For `startProgram`: the program prints where its inspector listens. */
export const INSPECTED = { NODE_OPTIONS: '--inspect=127.0.0.1:0' } as const;

/** Bytes. */
export interface Memory {
  readonly heapUsed: number;
  /** Memory outside the heap that objects in it hold, array buffers included. */
  readonly external: number;
  readonly arrayBuffers: number;
  readonly rss: number;
}

/** What the program has written to stderr beside the inspector's own lines and warnings, such as those of the watchdog of turns. */
export function complaints(program: Program): string {
  return program.stderr().replace(/^(Debugger (listening|ending) on .*|For help, see: .*|Debugger attached\.|\{"level":40,.*)\n/gm, '');
}

export async function memoryOf(program: Program): Promise<Memory> {
  const address = /^Debugger listening on (ws:\S+)$/m.exec(program.stderr())?.[1];
  if (address === undefined) throw new Error(`the program has no inspector:\n${program.stderr()}`);
  const socket = new WebSocket(address);
  await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject));
  try {
    let id = 0;
    const ask = (method: string, params: object = {}) => {
      id += 1;
      const asked = id;
      socket.send(JSON.stringify({ id: asked, method, params }));
      return new Promise<{ result: { value: string } }>((resolve, reject) => {
        socket.once('error', reject);
        socket.on('message', (text) => {
          const answer = JSON.parse(String(text));
          if (answer.id === asked) resolve(answer.result);
        });
      });
    };
    // Memory that finalisers release is free only after another collection.
    for (let time = 0; time < 3; time += 1) await ask('HeapProfiler.collectGarbage');
    const { result } = await ask('Runtime.evaluate', { expression: 'JSON.stringify(process.memoryUsage())' });
    return JSON.parse(result.value);
  } finally {
    socket.close();
  }
}
