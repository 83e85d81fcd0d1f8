/** One run of a command: its input and output, its server and its account. */
import { homedir } from 'node:os';
import type { Command } from 'commander';
import { type Client, createClient } from '../sdk/client.ts';
import { CliFailure } from './failures.ts';
import { chosenAccount, type KeptAccount, originOf, readAccounts } from './kept-accounts.ts';
import { readSaved, type SavedFiles, savedFiles } from './saved.ts';

export const DEFAULT_URL = 'http://localhost:8787';

type Output = NodeJS.WritableStream & { readonly isTTY?: boolean };

/** The process as the commands see it. */
export interface Shell {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly stdin: NodeJS.ReadableStream & { readonly isTTY?: boolean };
  readonly stdout: Output;
  readonly stderr: Output;
  /** Aborted by Ctrl-C. */
  readonly signal: AbortSignal;
}

export interface GlobalOptions {
  readonly json?: boolean;
  readonly url?: string;
  readonly account?: string;
}

export interface Session {
  readonly shell: Shell;
  readonly api: Client;
  readonly url: string;
  readonly json: boolean;
  readonly files: SavedFiles;
  readonly token: string | undefined;
  readonly tokenFrom: 'EASEL_TOKEN' | 'credentials file' | 'accounts file' | undefined;
  /** The account that `--account` names. */
  readonly account: KeptAccount | undefined;
  /** A client with another token on the same server. */
  apiFor(token: string | undefined): Client;
  /** Prints the result: `document` with --json, else `text`. Called once. */
  answer(document: unknown, text: string): void;
  /** Prints a remark on standard error; nothing with --json. */
  remark(text: string): void;
  /** Bold text if the output is a terminal. */
  bold(text: string): string;
}

export type OpenSession = (command: Command) => Promise<Session>;

function checkedUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url && (url.protocol === 'http:' || url.protocol === 'https:')) return text.replace(/\/+$/, '');
  throw new CliFailure('usage', 'INVALID_URL', `"${text}" is not the address of a server.`, `An address looks like ${DEFAULT_URL}.`);
}

function coloured(output: Output, env: Shell['env']): boolean {
  return output.isTTY === true && !env.NO_COLOR && env.TERM !== 'dumb';
}

/** The only saved account of a server; undefined if there are several. */
function onlyAccountAt(url: string, kept: readonly KeptAccount[]): KeptAccount | undefined {
  const there = kept.filter((each) => originOf(each.server) === originOf(url));
  return there.length === 1 ? there[0] : undefined;
}

/** Opens the session of a command. --url and EASEL_URL override the saved address, --account and EASEL_TOKEN the saved token. */
export async function openSession(shell: Shell, options: GlobalOptions): Promise<Session> {
  const { env } = shell;
  const files = savedFiles(env, env.HOME || homedir());
  const saved = await readSaved(files);
  const asked = options.url || env.EASEL_URL ? checkedUrl(options.url || env.EASEL_URL || '') : undefined;
  const kept = await readAccounts(files, asked ?? DEFAULT_URL);
  const account = options.account === undefined ? undefined : chosenAccount(kept, options.account, asked, saved.url);
  const url = checkedUrl(asked ?? account?.server ?? saved.url ?? DEFAULT_URL);
  // A token is a secret and is never sent to a server that did not issue it.
  const isElsewhere = saved.url !== undefined && originOf(saved.url) !== originOf(url);
  const fromAccounts = account ?? (isElsewhere && !env.EASEL_TOKEN ? onlyAccountAt(url, kept) : undefined);
  const token = fromAccounts?.token ?? (env.EASEL_TOKEN || (isElsewhere ? undefined : saved.token));
  const json = options.json === true;
  const apiFor = (other: string | undefined) => createClient({ baseUrl: url, token: other });
  const write = (output: Output, text: string) => output.write(text.endsWith('\n') ? text : `${text}\n`);
  return {
    shell,
    api: apiFor(token),
    url,
    json,
    files,
    token,
    tokenFrom: fromAccounts ? 'accounts file' : env.EASEL_TOKEN ? 'EASEL_TOKEN' : token ? 'credentials file' : undefined,
    account,
    apiFor,
    answer: (document, text) => void write(shell.stdout, json ? JSON.stringify(document, null, 2) : text),
    remark: (text) => void (json || write(shell.stderr, text)),
    bold: (text) => (coloured(shell.stdout, env) ? `\u001b[1m${text}\u001b[22m` : text),
  };
}
