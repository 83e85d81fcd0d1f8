/** The generator if wrk is not installed: autocannon in a separate process. Prints one line of JSON (`Measured`). */
import { readFile } from 'node:fs/promises';
import autocannon from 'autocannon';
import type { Load, Measured } from './burst.ts';

/** autocannon formats every connection's requests before it begins, so targets that it cannot reach in a burst only delay the start. */
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

/** The targets of one connection: its share of all targets, or all of them if the connections are to call one target together. */
function targetsOf(load: Load, connection: number): string[] {
  if (load.repeat === 1) return load.targets.filter((_, index) => index % load.connections === connection % load.targets.length);
  const times = Math.max(1, Math.round(load.repeat / load.connections));
  return load.targets.slice(0, TARGETS_IN_A_ROW_MAX).flatMap((target) => Array.from({ length: times }, () => target));
}
