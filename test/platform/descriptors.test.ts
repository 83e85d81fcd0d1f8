/** What follows from the descriptors that a process may have. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { LIMITS } from '../../protocol/core/limits.ts';
import { connectionCaps, descriptorLimit, limitIn } from '../../src/platform/descriptors.ts';

test('the limit is read as Linux writes it', () => {
  const text = (soft: string) =>
    `Limit                     Soft Limit           Hard Limit           Units\nMax open files            ${soft.padEnd(21)}1048576              files\n`;
  expect([limitIn(text('1024')), limitIn(text('unlimited')), limitIn('Max processes 1 2 3')]).toEqual([1024, 1_048_576, undefined]);
  expect(descriptorLimit()).toBeGreaterThan(100);
});

test('whatever the limit, all connections together leave the reserve, and every kind has some', () => {
  fc.assert(
    fc.property(fc.integer({ min: 128, max: 2_000_000 }), fc.boolean(), (descriptors, isEmbedded) => {
      const { reserve, sockets, unproven, streams, plain } = connectionCaps(descriptors, LIMITS, isEmbedded);
      const taken = sockets.total + 2 * unproven.total + streams.total + 2 * plain.total;
      expect(taken).toBeLessThanOrEqual(descriptors - reserve);
      for (const caps of [sockets, unproven, streams]) {
        for (const share of [caps.total, caps.network, caps.caller, caps.artifact]) expect(share).toBeGreaterThan(0);
      }
      expect(plain.network).toBeLessThanOrEqual(plain.total);
    }),
  );
});

test('a large limit allows what the process allows, and no more', () => {
  const { sockets, streams, unproven } = connectionCaps(1_048_576, LIMITS);
  expect([sockets.total, sockets.artifact, streams.total, unproven.total]).toEqual([
    LIMITS.socketsMax,
    LIMITS.socketsPerArtifactMax,
    LIMITS.streamsMax,
    LIMITS.unprovenSocketsMax,
  ]);
});
