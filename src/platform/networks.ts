/** Which addresses the service may connect to on behalf of others: those of the public internet, and what the installation allows besides. */
import ipaddr from 'ipaddr.js';

type Address = ipaddr.IPv4 | ipaddr.IPv6;
type Network = readonly [Address, number];

/** Within the global unicast space, but of no public host: benchmarks, registries' own ranges, and where Azure tells a machine its secrets. */
const NOT_PUBLIC: readonly Network[] = [
  '192.88.99.0/24',
  '198.18.0.0/15',
  '192.0.0.0/24',
  '2001::/23',
  '3fff::/20',
  '168.63.129.16/32',
  '5f00::/16',
  '100:0:0:1::/64',
].map((text) => ipaddr.parseCIDR(text));
/** All that is assigned to public hosts so far. */
const GLOBAL_UNICAST_V6 = ipaddr.IPv6.parseCIDR('2000::/3');

/** Reads `10.0.0.0/8, 192.168.1.5, fd00::/8`. Undefined where one of them is neither an address nor a network. */
export function readNetworks(text: string): readonly Network[] | undefined {
  const networks: Network[] = [];
  for (const one of text.split(',').map((part) => part.trim())) {
    if (ipaddr.isValidCIDR(one)) networks.push(ipaddr.parseCIDR(one));
    else if (ipaddr.IPv4.isValidFourPartDecimal(one)) networks.push([ipaddr.parse(one), 32]);
    else if (ipaddr.IPv6.isValid(one)) networks.push([ipaddr.parse(one), 128]);
    else return undefined;
  }
  return networks;
}

/** An address in its one spelling; undefined where the text is none. `127.1`, `0x7f.1` and octal numbers are spellings that URLs resolve. */
export function plainAddress(text: string): string | undefined {
  const bare = text.replace(/^\[(.*)\]$/, '$1');
  if (ipaddr.IPv4.isValidFourPartDecimal(bare)) return bare;
  return ipaddr.IPv6.isValid(bare) && !bare.includes('%') ? ipaddr.IPv6.parse(bare).toNormalizedString() : undefined;
}

/** `allowed`: networks that the installation has opened. An address in them counts in its own form only, not as a part of another one. */
export function mayReach(text: string, allowed: readonly Network[]): boolean {
  const plain = plainAddress(text);
  if (plain === undefined) return false;
  const address = ipaddr.parse(plain);
  if (allowed.some((network) => isIn(address, network))) return true;
  if (NOT_PUBLIC.some((network) => isIn(address, network)) || address.range() !== 'unicast') return false;
  return address instanceof ipaddr.IPv4 || address.match(GLOBAL_UNICAST_V6);
}

function isIn(address: Address, [network, bits]: Network): boolean {
  if (address instanceof ipaddr.IPv4) return network instanceof ipaddr.IPv4 && address.match(network, bits);
  return network instanceof ipaddr.IPv6 && address.match(network, bits);
}
