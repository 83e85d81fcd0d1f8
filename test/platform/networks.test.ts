import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { mayReach, plainAddress, readNetworks } from '../../src/platform/networks.ts';

describe('addresses that may be called', () => {
  it.each([
    '127.0.0.1',
    '127.1.2.3',
    '0.0.0.0',
    '10.1.2.3',
    '172.16.0.1',
    '192.168.1.1',
    '169.254.169.254',
    '168.63.129.16',
    '100.64.0.1',
    '192.0.0.8',
    '192.0.2.1',
    '198.18.0.1',
    '198.51.100.7',
    '203.0.113.9',
    '224.0.0.1',
    '240.0.0.1',
    '255.255.255.255',
    '192.88.99.1',
    '::',
    '::1',
    '::ffff:127.0.0.1',
    '::ffff:8.8.8.8',
    '::127.0.0.1',
    '64:ff9b::7f00:1',
    '64:ff9b:1::1',
    '100::1',
    '2001::1',
    '2001:db8::1',
    '2002:7f00:1::',
    'fc00::1',
    'fd12:3456::1',
    'fe80::1',
    'fec0::1',
    'ff02::1',
    '3fff::1',
    '5f00::1',
    'fe80::1%eth0',
    '127.1',
    '0x7f.1',
    '0177.0.0.1',
    'localhost',
    '',
  ])('%s is not public', (address) => {
    expect(mayReach(address, [])).toBe(false);
  });

  it.each(['8.8.8.8', '93.184.216.34', '2606:2800:220:1:248:1893:25c8:1946', '[2a00:1450:4001:81b::200e]'])('%s is public', (address) => {
    expect(mayReach(address, [])).toBe(true);
  });

  it('an installation opens networks of its own, and a mapped address is none of them', () => {
    const networks = readNetworks('10.0.0.0/8, 192.168.1.5,fd00::/8') ?? [];
    expect(['10.1.2.3', '192.168.1.5', 'fd00::7'].every((address) => mayReach(address, networks))).toBe(true);
    expect(['192.168.1.6', '::ffff:10.1.2.3', '127.0.0.1', 'fc00::1'].some((address) => mayReach(address, networks))).toBe(false);
    expect(['10.0.0.0/33', 'db.example.com', '10.0.0.0/8;::1', '127.1'].map(readNetworks)).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
  });

  it('whatever spelling a URL has for an address, it is judged as the address that would be called', () => {
    fc.assert(
      fc.property(fc.nat(0xffff_ffff), fc.constantFrom('decimal', 'hex', 'octal', 'dotted hex'), (bits, spelling) => {
        const bytes = [bits >>> 24, (bits >>> 16) & 255, (bits >>> 8) & 255, bits & 255];
        const plain = bytes.join('.');
        const spelt = {
          decimal: String(bits),
          hex: `0x${bits.toString(16)}`,
          octal: bytes.map((byte) => `0${byte.toString(8)}`).join('.'),
          'dotted hex': bytes.map((byte) => `0x${byte.toString(16)}`).join('.'),
        }[spelling];
        expect(plainAddress(new URL(`http://${spelt}/`).hostname)).toBe(plain);
      }),
      { seed: 14, numRuns: 500 },
    );
  });
});
