/** Ids of requests: `req_` and 24 characters, unique over processes; cheap, because every answer has one. */

const GIVEN = /^[A-Za-z0-9._-]{1,64}$/;
const ALPHABET = 'abcdefghijklmnopqrstuvwxyz234567';
const RANDOM_CHARS = 16;
const COUNTER_CHARS = 8;

let prefix = '';
let counter = 0;

/** The caller's own where it is 1 to 64 safe characters, else a fresh one. */
export function requestId(given: string): string {
  return given !== '' && GIVEN.test(given) ? given : freshRequestId();
}

function freshRequestId(): string {
  if (prefix === '' || counter === 32 ** COUNTER_CHARS) {
    prefix = 'req_';
    for (const byte of crypto.getRandomValues(new Uint8Array(RANDOM_CHARS))) prefix += ALPHABET[byte & 31];
    counter = 0;
  }
  counter += 1;
  return prefix + counter.toString(32).padStart(COUNTER_CHARS, '0');
}
