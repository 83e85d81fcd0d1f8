/** Addresses as people type them: separated by spaces, commas, semicolons or line breaks. */
import { words } from '../../words/words.ts';

/** As many as the server takes in one call. */
export const RECIPIENTS_MAX = 10;

const ADDRESS = /^[^\s@]+@[^\s@.]+(?:\.[^\s@.]+)+$/;

export function addressesIn(text: string): string[] {
  const parts = text.toLowerCase().split(/[\s,;]+/);
  return [...new Set(parts.filter(Boolean))];
}

/** What is wrong with what was typed, before it is sent; undefined where nothing is. */
export function addressProblem(addresses: readonly string[]): string | undefined {
  const { share } = words.value;
  const bad = addresses.find((address) => !ADDRESS.test(address));
  if (bad !== undefined) return share.notAnAddress(bad);
  return addresses.length > RECIPIENTS_MAX ? share.tooMany(RECIPIENTS_MAX) : undefined;
}
