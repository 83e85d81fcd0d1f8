/** The keys in SECRET_KEY: the first seals, the others only open what was sealed before. Messages never repeat what was given. */

export const SECRET_KEY_BYTES = 32;

const HEX = /^[0-9a-fA-F]{64}$/;
/** Standard and URL-safe alphabets, with or without padding. */
const BASE64 = /^[A-Za-z0-9+/_-]{43}=?$/;

/** Undefined where one of them is not 32 bytes in base64 or hex. */
export function readSecretKeys(text: string): readonly Buffer[] | undefined {
  const keys: Buffer[] = [];
  for (const part of text.split(',').map((each) => each.trim())) {
    const key = HEX.test(part) ? Buffer.from(part, 'hex') : BASE64.test(part) ? Buffer.from(part, 'base64') : undefined;
    if (key?.length !== SECRET_KEY_BYTES) return undefined;
    keys.push(key);
  }
  return keys;
}
