/** The generator where wrk is not installed: autocannon in a process of its own. Prints one line of JSON (`Measured`). */
import { readFile } from 'node:fs/promises';
import autocannon from 'autocannon';
import type { Load, Measured } from './load.ts';

export async function generateWithAutocannon(file: string): Promise<void> {
  const load = JSON.parse(await readFile(file, 'utf8')) as Load;
  const timesEach = Math.max(1, Math.round(load.repeat / load.connections));
  const requests = load.targets.flatMap((path) =>
    Array.from({ length: timesEach }, () => ({ method: load.method, path, headers: load.headers, body: load.body })),
  );
  let clients = 0;
  const result = await autocannon({
    url: load.origin,
    connections: load.connections,
    duration: load.durationS,
    requests: requests.slice(0, 1),
    setupClient: (client) => {
      // Connections that walk one list in step would all ask for one target at a time; begin each elsewhere, unless that is wanted.
      const start = load.repeat > 1 ? 0 : Math.floor((clients++ * requests.length) / load.connections);
      client.setRequests([...requests.slice(start), ...requests.slice(0, start)]);
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
