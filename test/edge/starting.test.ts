/** The port is bound before anything else starts, and requests until then get 503 with Retry-After. */
import { connect } from 'node:net';
import { expect, test } from 'vitest';
import { bindPort, PortTaken } from '../../src/edge/server.ts';
import { parseSettings } from '../../src/platform/config.ts';
import { keepablePort } from '../support/ports.ts';
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

test('also those that come in the moment in which the port is bound', async () => {
  const port = await keepablePort();
  const answers: string[] = [];
  const binding = bindPort(parseSettings({ PORT: String(port) }), new VirtualClock());
  let isBound = false;
  void binding.then(() => {
    isBound = true;
  });
  // Asks in every round of the event loop, so that some requests come before anything else has run.
  while (!isBound || answers.length === 0) {
    const answer = await firstLine(port);
    if (answer !== undefined) answers.push(answer);
  }
  expect(new Set(answers)).toEqual(new Set(['HTTP/1.1 503 Service Unavailable']));
  (await binding).close();
});

/** Of the answer to a request; undefined where nobody listens. */
function firstLine(port: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => socket.write('GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n'));
    socket.on('data', (bytes) => {
      resolve(String(bytes).split('\r\n')[0]);
      socket.destroy();
    });
    socket.on('error', () => resolve(undefined));
  });
}
