/** The generator where wrk is not installed: autocannon in a process of its own. Prints one line of JSON (`Measured`). */
import { readFile } from 'node:fs/promises';
import autocannon from 'autocannon';
import type { Load, Measured } from './load.ts';

/** autocannon formats every connection's list before it begins; more targets than it can reach in a burst only delay it. */
const TARGETS_IN_A_ROW_MAX = 150;

export async function generateWithAutocannon(file: string): Promise<void> {
  const load = JSON.parse(await readFile(file, 'utf8')) as Load;
  let clients = 0;
  const result = await autocannon({
    url: load.origin,
    connections: load.connections,
    duration: load.durationS,
    setupClient: (client) => {
      const connection = clients++;
      client.setRequests(
        targetsOf(load, connection).map((path) => ({ method: load.method, path, headers: { ...load.headers }, body: load.body })),
      );
    },
  });
  const measured: Measured = {
    requests: result.requests.total,
    requestsPerS: result.requests.total / result.duration,
    p50Ms: result.latency.p50,
    p99Ms: result.latency.p99,
    failures: result.non2xx + result.errors + result.timeouts,
  };
  console.log(JSON.stringify(measured));
}

/** Each connection walks a list of its own: its share of the targets, or all in step with the others where they are to meet on one. */
function targetsOf(load: Load, connection: number): string[] {
  if (load.repeat === 1) return load.targets.filter((_, index) => index % load.connections === connection % load.targets.length);
  const times = Math.max(1, Math.round(load.repeat / load.connections));
  return load.targets.slice(0, TARGETS_IN_A_ROW_MAX).flatMap((target) => Array.from({ length: times }, () => target));
}
