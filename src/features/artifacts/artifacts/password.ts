/** The password that visitors of an artifact enter. */
import { hash } from '@node-rs/argon2';

/** Argon2id with the library's defaults. Slow on purpose: call it outside of transactions. */
export async function hashPassword(password: string | undefined): Promise<string | undefined> {
  return password === undefined ? undefined : hash(password);
}
