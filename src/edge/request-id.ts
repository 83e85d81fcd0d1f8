/** Ids of requests: `req_` and 24 characters, unique across processes, and cheap because every answer has one. */

const GIVEN = /^[A-Za-z0-9._-]{1,64}$/;
const ALPHABET = 'abcdefghijklmnopqrstuvwxyz234567';
const RANDOM_CHARS = 16;
/** The last two characters count through all their values; then the block before them is incremented. */
const ENDINGS = Array.from({ length: 32 ** 2 }, (_, at) => at.toString(32).padStart(2, '0'));
const BLOCK_CHARS = 6;

let prefix = '';
let block = 0;
let ending = ENDINGS.length;

/** The caller's own id where it has 1 to 64 safe characters, else a fresh one. */
export function requestId(given: string): string {
  return given !== '' && GIVEN.test(given) ? given : freshRequestId();
}

function freshRequestId(): string {
  if (ending === ENDINGS.length) startBlock();
  const id = prefix + ENDINGS[ending];
  ending += 1;
  return id;
}

function startBlock(): void {
  if (prefix === '' || block === 32 ** BLOCK_CHARS) {
    prefix = 'req_';
    for (const byte of crypto.getRandomValues(new Uint8Array(RANDOM_CHARS))) prefix += ALPHABET[byte & 31];
    block = 0;
  }
  prefix = prefix.slice(0, 4 + RANDOM_CHARS) + block.toString(32).padStart(BLOCK_CHARS, '0');
  block += 1;
  ending = 0;
}
