/** Memory of an idle artifact: the difference between before and after loading some thousand of them, after garbage collection. */
import { readFile } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import type { Server } from './processes.ts';
import { wake } from './wake.ts';

export interface ActorMemory {
  readonly actors: number;
  /** Heap and external memory of V8, in bytes per actor. */
  readonly heapBytesEach: number;
  /** Resident set of the process, in bytes per actor. */
  readonly residentBytesEach: number;
}

export interface Memory {
  readonly heapBytes: number;
  readonly residentBytes: number;
}

/** Reads one key of each artifact `first … first + count - 1`. The first tenth only warms the code up. */
export async function measureIdleActors(server: Server, token: string, first: number, count: number): Promise<ActorMemory> {
  const warmUp = Math.floor(count / 10);
  await wake(server, token, first, warmUp);
  const before = await memoryOf(server);
  const residentBefore = await metric(server, 'easel_actors_resident');
  await wake(server, token, first + warmUp, count - warmUp);
  const after = await memoryOf(server);
  const actors = (await metric(server, 'easel_actors_resident')) - residentBefore;
  if (actors !== count - warmUp) throw new Error(`${actors} actors are resident instead of ${count - warmUp}.`);
  return {
    actors,
    heapBytesEach: (after.heapBytes - before.heapBytes) / actors,
    residentBytesEach: (after.residentBytes - before.residentBytes) / actors,
  };
}

export async function memoryOf(server: Server): Promise<Memory> {
  server.signal('SIGUSR2');
  // The signal is handled before the next request, but finalisers release memory a moment later.
  await pause(500);
  const heapBytes = (await metric(server, 'nodejs_heap_size_used_bytes')) + (await metric(server, 'nodejs_external_memory_bytes'));
  const status = await readFile(`/proc/${server.pid}/status`, 'utf8');
  const residentKb = Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1]);
  return { heapBytes, residentBytes: residentKb * 1024 };
}

export async function metric(server: Server, name: string): Promise<number> {
  const text = await fetch(`${server.origin}/metrics`).then((answer) => answer.text());
  const value = text
    .split('\n')
    .find((line) => line.startsWith(`${name} `) || line.startsWith(`${name}{`))
    ?.split(' ')
    .at(-1);
  if (value === undefined) throw new Error(`/metrics has no ${name}.`);
  return Number(value);
}
