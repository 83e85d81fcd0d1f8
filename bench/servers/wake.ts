/** Reads one key of each of many artifacts, so that they are in memory and caches are warm. */
import { artifactId } from './fixture.ts';
import type { Server } from './processes.ts';

const CONCURRENCY = 32;

/** Wakes the artifacts `first … first + count - 1`. Throws if an answer is not 200. */
export async function wake(server: Server, token: string, first: number, count: number): Promise<void> {
  let next = first;
  const worker = async () => {
    while (next < first + count) {
      const id = artifactId(next++);
      const answer = await fetch(`${server.origin}/v1/data/${id}/json/k0`, { headers: { authorization: `Bearer ${token}` } });
      await answer.arrayBuffer();
      if (answer.status !== 200) throw new Error(`${server.name} answered ${id} with ${answer.status}.`);
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, worker));
}
