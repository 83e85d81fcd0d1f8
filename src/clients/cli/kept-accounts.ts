/** accounts.json, beside the credentials: the tokens of all accounts used on this machine, by server and name. */
import { createHash } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { z } from 'zod';
import { CliFailure } from './failures.ts';
import { readJsonFile, readSaved, type SavedFiles, saveServer, token, writeJsonFile } from './saved.ts';

const account = z.object({
  server: z.string(),
  /** Null if only the token is known, because an earlier version of the command line saved it. */
  user_id: z.string().nullable(),
  name: z.string(),
  token: z.string().min(1),
});
const accounts = z.object({ accounts: z.array(account) });
export type KeptAccount = z.output<typeof account>;

export function originOf(url: string): string {
  return new URL(url).origin;
}

/** All accounts, including tokens that only the files of an earlier version contain. `url` is used where those files name no server. */
export async function readAccounts(files: SavedFiles, url: string): Promise<KeptAccount[]> {
  const [known, saved, previous] = await Promise.all([
    readJsonFile(files.accounts, accounts),
    readSaved(files),
    readJsonFile(files.previous, token),
  ]);
  const kept = [...(known?.accounts ?? [])];
  for (const only of [saved.token, previous?.token]) {
    if (only === undefined || kept.some((each) => each.token === only)) continue;
    const digest = createHash('sha256').update(only).digest('hex').slice(0, 6);
    kept.push({ server: saved.url ?? url, user_id: null, name: `account-${digest}`, token: only });
  }
  return kept;
}

async function writeAccounts(files: SavedFiles, kept: readonly KeptAccount[]): Promise<void> {
  if (kept.length === 0) await rm(files.accounts, { force: true });
  else await writeJsonFile(files.accounts, { accounts: kept }, 0o600);
  // Its token is part of the list, which is written.
  await rm(files.previous, { force: true });
}

/** Saves the account and makes it the current one. Returns the other accounts, which stay saved. */
export async function keepSignIn(files: SavedFiles, signedIn: KeptAccount): Promise<readonly KeptAccount[]> {
  const isSame = (each: KeptAccount) =>
    each.token === signedIn.token || (each.user_id === signedIn.user_id && originOf(each.server) === originOf(signedIn.server));
  const others = (await readAccounts(files, signedIn.server)).filter((each) => !isSame(each));
  // In this order, so that a crash in between loses no token.
  await writeAccounts(files, [...others, signedIn]);
  await writeJsonFile(files.credentials, { token: signedIn.token }, 0o600);
  await saveServer(files, signedIn.server);
  return others;
}

/** Deletes these tokens from this machine. Returns the remaining accounts. */
export async function forgetTokens(files: SavedFiles, url: string, forgotten: readonly string[]): Promise<readonly KeptAccount[]> {
  const { token: present } = await readSaved(files);
  const left = (await readAccounts(files, url)).filter((each) => !forgotten.includes(each.token));
  await writeAccounts(files, left);
  if (present !== undefined && forgotten.includes(present)) await rm(files.credentials, { force: true });
  return left;
}

/** `ada@easel.example.com`: unique among the accounts of all servers. */
export function accountText({ name, server }: KeptAccount): string {
  return `${name}@${new URL(server).host}`;
}

/** The account that `--account` names. `url`: the requested server; `home`: the server preferred if several accounts match. */
export function chosenAccount(kept: readonly KeptAccount[], name: string, url: string | undefined, home: string | undefined): KeptAccount {
  const at = (server: string | undefined) => (each: KeptAccount) => server !== undefined && originOf(each.server) === originOf(server);
  const named = kept.filter((each) => name === each.name || name === each.user_id || name === accountText(each));
  const there = url === undefined ? named : named.filter(at(url));
  const [first, second] = there.length > 1 ? (there.filter(at(home)).length === 1 ? there.filter(at(home)) : there) : there;
  if (first === undefined) {
    const all = kept.map(accountText).join(', ');
    throw new CliFailure(
      'usage',
      'NO_SUCH_ACCOUNT',
      `No account "${name}"${url === undefined ? '' : ` of ${originOf(url)}`} is saved on this machine.`,
      all === '' ? 'Sign in with "easel login".' : `Choose one of: ${all}.`,
    );
  }
  if (second === undefined) return first;
  throw new CliFailure(
    'usage',
    'AMBIGUOUS',
    `Several saved accounts match "${name}".`,
    `Choose one of: ${there.map(accountText).join(', ')}.`,
  );
}
