/** Which passwords are accepted. NIST SP 800-63B: a minimum of characters, nothing that is commonly used, and no rules of composition. */
import { Failure } from '../../../../protocol/core/errors.ts';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import { charsOf } from '../../../../protocol/core/text.ts';

let common: Promise<ReadonlySet<string>> | undefined;

/** The passwords that were found most often in breaches, in lowercase. Loaded with the first password: a start need not wait for the list. */
function commonPasswords(): Promise<ReadonlySet<string>> {
  common ??= import('@zxcvbn-ts/language-common').then(({ dictionary }) => new Set(dictionary['passwords-common']));
  return common;
}

/** Throws INVALID_REQUEST that says what is wrong with a password that somebody wants to set. */
export async function requireGoodPassword(password: string, email: string): Promise<void> {
  if (charsOf(password) < LIMITS.passwordCharsMin) {
    throw refused(
      `must have at least ${LIMITS.passwordCharsMin} characters`,
      'Several words in a row are easy to remember and hard to guess.',
    );
  }
  if (password.includes('\u0000')) throw refused('must not contain NUL characters', 'Choose another password.');
  const plain = password.normalize('NFKC').toLowerCase();
  if (isCommon(plain, await commonPasswords()))
    throw refused('is one of the most common passwords, which are tried first', 'Choose one that nobody else has.');
  if (isUniform(plain)) throw refused('repeats or counts up a few characters', 'Choose several words in a row.');
  if (isAbout(plain, email))
    throw refused(
      'is little more than the e-mail address or the name of this service',
      'Choose one that nobody can tell from your address.',
    );
}

/** Also with digits and signs at its ends, which is how people make a common one longer. */
function isCommon(plain: string, words: ReadonlySet<string>): boolean {
  const core = plain.replace(/^[^\p{L}]+|[^\p{L}]+$/gu, '');
  return words.has(plain) || (core.length >= 4 && plain.length - core.length > 0 && core.length > plain.length / 2 && words.has(core));
}

/** One short piece again and again, or characters that follow each other. */
function isUniform(plain: string): boolean {
  const chars = [...plain];
  for (let size = 1; size <= 4; size += 1) {
    if (chars.every((char, at) => char === chars[at % size])) return true;
  }
  const steps = chars.slice(1).map((char, at) => (char.codePointAt(0) ?? 0) - (chars[at]?.codePointAt(0) ?? 0));
  const counting = steps.filter((step) => step === 1 || step === -1 || step === 0).length;
  return counting >= steps.length - 1;
}

function isAbout(plain: string, email: string): boolean {
  const [local = '', host = ''] = email.toLowerCase().split('@');
  const known = [local, host.split('.')[0] ?? '', email.toLowerCase(), 'easel'].filter((word) => word.length >= 4);
  return known.some((word) => plain.includes(word) && plain.length - word.length < 4);
}

function refused(what: string, hint: string): Failure {
  return new Failure('INVALID_REQUEST', { message: `password: ${what}.`, param: 'password', hint });
}
