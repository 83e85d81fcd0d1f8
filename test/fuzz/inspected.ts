/** What lives in the memory of a running program: it is asked over the inspector, after everything dead was collected. */
import { WebSocket } from 'ws';
import type { Program } from '../support/program.ts';

/** For `startProgram`: the program prints where its inspector listens. */
export const INSPECTED = { NODE_OPTIONS: '--inspect=127.0.0.1:0' } as const;

/** Bytes. */
export interface Memory {
  readonly heapUsed: number;
  /** Outside the heap and held by something in it; the buffers are part of it. */
  readonly external: number;
  readonly arrayBuffers: number;
  readonly rss: number;
}

/** What the program has written to stderr beside the inspector's own lines. */
export function complaints(program: Program): string {
  return program.stderr().replace(/^(Debugger (listening|ending) on .*|For help, see: .*|Debugger attached\.)\n/gm, '');
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
    // What a finaliser lets go of is dead only afterwards.
    for (let time = 0; time < 3; time += 1) await ask('HeapProfiler.collectGarbage');
    const { result } = await ask('Runtime.evaluate', { expression: 'JSON.stringify(process.memoryUsage())' });
    return JSON.parse(result.value);
  } finally {
    socket.close();
  }
}
