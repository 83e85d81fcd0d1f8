/** Addresses of callers: the canonical spelling, and the network of one subscriber. */
import { isIPv4, isIPv6 } from 'node:net';

/** An IPv4 address on a dual-stack socket, as `URL` writes it. */
const MAPPED_IPV4 = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/;

/**
 * IPv4 in dotted form, also from any spelling of `::ffff:1.2.3.4`, and IPv6 in its short form. The port that some proxies add is left out,
 * because it differs with every connection. Text that is no address stays as it is.
 */
export function canonicalAddress(text: string): string {
  const bare = /^\[(.+)\](?::\d+)?$/.exec(text)?.[1] ?? /^([\d.]+):\d+$/.exec(text)?.[1] ?? text;
  const address = bare.split('%')[0] ?? bare;
  if (!isIPv6(address)) return isIPv4(address) ? address : text;
  const short = new URL(`http://[${address}]`).hostname.slice(1, -1);
  const [, high, low] = MAPPED_IPV4.exec(short) ?? [];
  if (high === undefined || low === undefined) return short;
  return [high, low]
    .map((group) => Number.parseInt(group, 16))
    .flatMap((group) => [group >> 8, group & 255])
    .join('.');
}

/** The subject of limits by address. One subscriber has one IPv4 address, but a whole /64 of IPv6. Takes canonical addresses. */
export function networkOf(address: string): string {
  if (!isIPv6(address)) return address;
  const [before = '', after] = address.split('::');
  const head = before === '' ? [] : before.split(':');
  const tail = after === undefined || after === '' ? [] : after.split(':');
  const missing = after === undefined ? 0 : 8 - head.length - tail.length;
  return [...head, ...Array<string>(missing).fill('0'), ...tail].slice(0, 4).join(':');
}
