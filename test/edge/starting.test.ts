/** The port is bound before anything else starts, and requests until then get 503 with Retry-After. */
import { expect, test } from 'vitest';
import { bindPort, PortTaken } from '../../src/edge/server.ts';
import { parseSettings } from '../../src/platform/config.ts';
import { VirtualClock } from '../support/virtual-clock.ts';

test('until it serves, every request is answered with 503 and the connection closed', async () => {
  const clock = new VirtualClock();
  const bound = await bindPort(parseSettings({ PORT: '0' }), clock);
  for (const [method, path] of [
    ['GET', '/readyz'],
    ['GET', '/healthz'],
    ['POST', '/v1/publish'],
  ] as const) {
    const answer = await fetch(`http://127.0.0.1:${bound.port}${path}`, { method, ...(method === 'POST' && { body: '{}' }) });
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '1']);
    expect(await answer.json()).toMatchObject({
      code: 'UNAVAILABLE',
      error: 'The process is starting.',
      request_id: answer.headers.get('x-request-id'),
    });
  }
  const stream = fetch(`http://127.0.0.1:${bound.port}/v1/data/x/changes`, { headers: { accept: 'text/event-stream' } });
  await expect(stream, 'an EventSource would take an answer for final').rejects.toThrow();
  const same = parseSettings({ PORT: String(bound.port) });
  await expect(bindPort(same, clock)).rejects.toBeInstanceOf(PortTaken);
  bound.close();
  await expect(fetch(`http://127.0.0.1:${bound.port}/readyz`)).rejects.toMatchObject({ cause: { code: 'ECONNREFUSED' } });
});
