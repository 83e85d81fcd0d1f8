/** What a browser calls itself, in words. */
import Bowser from 'bowser';
import { LIMITS } from '../../../../protocol/core/limits.ts';

/** Parsing takes time that grows with the text. */
const PARSED_CHARS_MAX = 512;
const UNKNOWN = 'Unknown device';

/** For example "Firefox on Windows"; the first word of what is not a browser, for example "curl". */
export function deviceOf(userAgent: string): string {
  const text = userAgent.slice(0, PARSED_CHARS_MAX).trim();
  if (text === '') return UNKNOWN;
  const { browser, os } = Bowser.parse(text);
  const names = [browser.name, os.name].filter((name) => name !== undefined && name !== '');
  const words = names.length > 0 ? names.join(' on ') : (text.split(/[\s/]/)[0] ?? UNKNOWN);
  return words.replaceAll('\u0000', '').slice(0, LIMITS.deviceCharsMax) || UNKNOWN;
}
