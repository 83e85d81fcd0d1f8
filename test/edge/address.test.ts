import { describe, expect, test } from 'vitest';
import { canonicalAddress, networkOf } from '../../src/edge/address.ts';

describe('one spelling for each address', () => {
  test.each([
    ['203.0.113.7', '203.0.113.7'],
    ['::ffff:203.0.113.7', '203.0.113.7'],
    ['::FFFF:203.0.113.7', '203.0.113.7'],
    ['::ffff:cb00:7107', '203.0.113.7'],
    // As uWebSockets writes it.
    ['0000:0000:0000:0000:0000:ffff:cb00:7107', '203.0.113.7'],
    ['0:0:0:0:0:ffff:203.0.113.7', '203.0.113.7'],
    ['2001:0DB8:0000:0000:0000:0000:0000:0001', '2001:db8::1'],
    ['::1', '::1'],
    ['fe80::1%eth0', 'fe80::1'],
    ['203.0.113.7:50123', '203.0.113.7'],
    ['[2001:db8::1]:50123', '2001:db8::1'],
    ['[::ffff:203.0.113.7]', '203.0.113.7'],
    ['unknown', 'unknown'],
    ['', ''],
    ['999.1.1.1', '999.1.1.1'],
  ])('%s', (text, expected) => {
    expect(canonicalAddress(text)).toBe(expected);
  });
});

describe('what one subscriber holds', () => {
  test.each([
    ['203.0.113.7', '203.0.113.7'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2'],
    ['2001:db8:1:2::9', '2001:db8:1:2'],
    ['2001:db8::1', '2001:db8:0:0'],
    ['::1', '0:0:0:0'],
    ['2001:db8:1:2:3::', '2001:db8:1:2'],
  ])('%s', (address, expected) => {
    expect(networkOf(address)).toBe(expected);
  });
});
