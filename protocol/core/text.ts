/** Text lengths in characters (code points), so that an emoji counts as one, as in JSON Schema. */
import { z } from 'zod';

/** The number of code points of a text. */
export function charsOf(text: string): number {
  let chars = text.length;
  for (let at = 0; at < text.length - 1; at += 1) {
    const unit = text.charCodeAt(at);
    if (unit < 0xd800 || unit > 0xdbff) continue;
    const next = text.charCodeAt(at + 1);
    if (next >= 0xdc00 && next <= 0xdfff) {
      chars -= 1;
      at += 1;
    }
  }
  return chars;
}

/** A text with a bounded number of characters. */
export function boundedText(charsMax: number, charsMin = 0) {
  const bounds = z.check<string>((payload) => {
    const input = payload.value;
    // A text never has more characters than code units, so most texts need not be counted.
    if (input.length > charsMax && charsOf(input) > charsMax) {
      payload.issues.push({ code: 'too_big', origin: 'string', maximum: charsMax, inclusive: true, input });
    }
    if (charsMin > 0 && charsOf(input) < charsMin) {
      payload.issues.push({ code: 'too_small', origin: 'string', minimum: charsMin, inclusive: true, input });
    }
  });
  // zod derives minLength and maxLength of the JSON Schema from this bag.
  bounds._zod.onattach.push((text) => {
    Object.assign(text._zod.bag, { maximum: charsMax, ...(charsMin > 0 && { minimum: charsMin }) });
  });
  return z.string().check(bounds);
}
