/** One run of one command: where it reads and writes, which server it talks to, and as whom. */
import { homedir } from 'node:os';
import type { Command } from 'commander';
import { type Client, createClient } from '../sdk.ts';
import { CliFailure } from './failures.ts';
import { readSaved, type SavedFiles, savedFiles } from './saved.ts';

export const DEFAULT_URL = 'http://localhost:8787';

type Output = NodeJS.WritableStream & { readonly isTTY?: boolean };

/** The process as the commands see it. */
export interface Shell {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly stdin: NodeJS.ReadableStream & { readonly isTTY?: boolean };
  readonly stdout: Output;
  readonly stderr: Output;
  /** Fires on Ctrl-C. */
  readonly signal: AbortSignal;
}

export interface GlobalOptions {
  readonly json?: boolean;
  readonly url?: string;
}

export interface Session {
  readonly shell: Shell;
  readonly api: Client;
  readonly url: string;
  readonly json: boolean;
  readonly files: SavedFiles;
  readonly token: string | undefined;
  readonly tokenFrom: 'EASEL_TOKEN' | 'credentials file' | undefined;
  /** A client for another token, on the same server. */
  apiFor(token: string | undefined): Client;
  /** The result: `document` with --json, else `text`. Called once. */
  answer(document: unknown, text: string): void;
  /** A remark beside the result, on standard error; silent with --json. */
  remark(text: string): void;
  /** For a heading, where the output is a terminal. */
  bold(text: string): string;
}

export type OpenSession = (command: Command) => Promise<Session>;

function checkedUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url && (url.protocol === 'http:' || url.protocol === 'https:')) return text.replace(/\/+$/, '');
  throw new CliFailure('usage', 'INVALID_URL', `"${text}" is not an address of a server.`, `It looks like ${DEFAULT_URL}.`);
}

function coloured(output: Output, env: Shell['env']): boolean {
  return output.isTTY === true && !env.NO_COLOR && env.TERM !== 'dumb';
}

/** Opens the session of a command. --url and EASEL_URL go before the saved address, EASEL_TOKEN before the saved token. */
export async function openSession(shell: Shell, options: GlobalOptions): Promise<Session> {
  const { env } = shell;
  const files = savedFiles(env, env.HOME || homedir());
  const saved = await readSaved(files);
  const url = checkedUrl(options.url || env.EASEL_URL || saved.url || DEFAULT_URL);
  // A token is a secret of the server that made it: it is never sent to another one.
  const elsewhere = saved.url !== undefined && new URL(saved.url).origin !== new URL(url).origin;
  const savedToken = elsewhere ? undefined : saved.token;
  const token = env.EASEL_TOKEN || savedToken;
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
    tokenFrom: env.EASEL_TOKEN ? 'EASEL_TOKEN' : token ? 'credentials file' : undefined,
    apiFor,
    answer: (document, text) => void write(shell.stdout, json ? JSON.stringify(document, null, 2) : text),
    remark: (text) => void (json || write(shell.stderr, text)),
    bold: (text) => (coloured(shell.stdout, env) ? `\u001b[1m${text}\u001b[22m` : text),
  };
}
