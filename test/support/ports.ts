/** Ports for programs that must find theirs free again after they were killed. */
import { once } from 'node:events';
import { createServer } from 'node:net';

/** Below the ports that the system gives to outgoing connections: none of those takes it meanwhile, and no client that retries connects to itself. */
const FIRST = 12_000;
const LAST = 32_000;

const given = new Set<number>();

/** A port that is free now, and that nobody else is likely to take while its program is down. */
export async function keepablePort(): Promise<number> {
  for (;;) {
    const port = FIRST + Math.floor(Math.random() * (LAST - FIRST));
    if (given.has(port) || !(await isFree(port))) continue;
    given.add(port);
    return port;
  }
}

async function isFree(port: number): Promise<boolean> {
  const probe = createServer().listen(port, '127.0.0.1');
  try {
    await once(probe, 'listening');
    probe.close();
    await once(probe, 'close');
    return true;
  } catch {
    return false;
  }
}
