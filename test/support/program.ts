/** The built program as a process of its own, as a user starts it. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { services } from './services.ts';

export interface ProgramEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface Program {
  readonly process: ChildProcess;
  readonly baseUrl: string;
  /** Printed on the first start of an installation. */
  readonly adminToken: string | undefined;
  /** Everything written to it so far. */
  stdout(): string;
  stderr(): string;
  ended: Promise<ProgramEnd>;
  /** Sends a signal and waits for the end. */
  end(signal: NodeJS.Signals): Promise<ProgramEnd>;
}

export interface FailedStart extends ProgramEnd {
  readonly stdout: string;
  readonly stderr: string;
}

type Environment = Readonly<Record<string, string>>;

/** Starts the program with these settings alone, and at most so many file descriptors; `PORT` defaults to a free one. Rejects when the program ends before it listens. */
export async function startProgram(settings: Environment, { descriptors }: { readonly descriptors?: number } = {}): Promise<Program> {
  // The program raises its soft limit to the hard one, so both are set.
  const limited = descriptors === undefined ? [] : ['sh', '-c', `ulimit -n ${descriptors} && exec "$@"`, 'sh'];
  const outcome = await launch(settings, limited);
  if ('baseUrl' in outcome) return outcome;
  throw new Error(`the program ended with ${outcome.code ?? outcome.signal}:\n${outcome.stderr}`);
}

/** The capabilities by which root may write everywhere. */
const WITHOUT_ROOT_RIGHTS = ['setpriv', '--bounding-set=-dac_override,-dac_read_search'];

/** Starts the program where it must fail, and answers how it ended. `asUser`: without root's right to write everywhere. */
export async function failToStart(settings: Environment, { asUser = false } = {}): Promise<FailedStart> {
  const outcome = await launch(settings, asUser && process.getuid?.() === 0 ? WITHOUT_ROOT_RIGHTS : []);
  if (!('baseUrl' in outcome)) return outcome;
  await outcome.end('SIGKILL');
  throw new Error('the program started, which it must not');
}

async function launch(settings: Environment, prefix: readonly string[] = []): Promise<Program | FailedStart> {
  const [command = '', ...args] = [...prefix, process.execPath, '--enable-source-maps', join(services().builtDir, 'main.js')];
  const child = spawn(command, args, {
    env: { PATH: process.env.PATH, HOME: process.env.HOME, LOG_LEVEL: 'warn', PORT: '0', ...settings },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  // A failed test leaves the program running; it must not outlive the test process.
  const killIt = () => child.kill('SIGKILL');
  process.once('exit', killIt);
  child.once('exit', () => process.off('exit', killIt));
  let stdout = '';
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text) => {
    stderr += text;
  });
  const ended: Promise<ProgramEnd> = once(child, 'close').then(([code, signal]) => ({ code, signal }));
  const listening = new Promise<string>((resolve) => {
    child.stdout.setEncoding('utf8').on('data', (text) => {
      stdout += text;
      // The greeting is written in one chunk, with the address first.
      const address = /^Easel is at (\S+)\n/m.exec(stdout)?.[1];
      if (address !== undefined) resolve(address);
    });
  });
  const address = await Promise.race([listening, ended.then(() => null)]);
  if (address === null) return { ...(await ended), stdout, stderr };
  return {
    process: child,
    baseUrl: address.replace('localhost', '127.0.0.1'),
    adminToken: /so_[0-9a-f]{64}/.exec(stdout)?.[0],
    stdout: () => stdout,
    stderr: () => stderr,
    ended,
    end: (signal) => {
      child.kill(signal);
      return ended;
    },
  };
}
