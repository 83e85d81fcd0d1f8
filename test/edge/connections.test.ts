/** Whose idle connections are closed where a good part of all is taken. */
import type { HttpResponse } from 'uWebSockets.js';
import { expect, test } from 'vitest';
import { Connections } from '../../src/edge/connections.ts';

const TOTAL = 1000;

function connections({ trustProxy = false } = {}) {
  const refusals = { refused: () => undefined };
  const clock = { nowMs: () => 1_000_000, monotonicMs: () => 1_000_000, after: () => ({ cancel: () => undefined }) };
  return new Connections({ caps: { total: TOTAL, network: TOTAL / 2 }, clock, refusals, streams: () => 0, trustProxy });
}

function open(to: Connections, address: string, count: number): void {
  const response = { getRemoteAddressAsText: () => Buffer.from(address), close: () => undefined } as unknown as HttpResponse;
  for (let opened = 0; opened < count; opened += 1) to.changed(response, 1);
}

const from = (address: string, caller?: string) => ({ address, caller, nowMs: 1_000_000 });

test('in a flood of connections who has shown a credential and has few keeps them', () => {
  const all = connections();
  open(all, '203.0.113.1', 16);
  all.vouch(from('203.0.113.1', 'tok_1'));
  open(all, '203.0.113.2', 16);
  expect(all.closesIdle(from('203.0.113.2'))).toBe(false);
  open(all, '203.0.113.66', TOTAL / 2);
  expect(all.closesIdle(from('203.0.113.1'))).toBe(false);
  expect(all.closesIdle(from('203.0.113.2'))).toBe(true);
  expect(all.closesIdle(from('203.0.113.66'))).toBe(true);
});

test('a credential does not keep the connections of a network that has many', () => {
  const all = connections();
  open(all, '203.0.113.66', TOTAL / 2);
  all.vouch(from('203.0.113.66', 'tok_1'));
  expect(all.closesIdle(from('203.0.113.66'))).toBe(true);
});

test('behind a proxy nobody can be told apart', () => {
  const all = connections({ trustProxy: true });
  open(all, '203.0.113.1', TOTAL / 2);
  all.vouch(from('198.51.100.1', 'tok_1'));
  expect(all.closesIdle(from('198.51.100.1'))).toBe(true);
});
