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
  /** From the start of the process to its printed address. */
  readonly startMs: number;
  /** All that it has written so far. */
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

/** Starts it with these settings and nothing else of ours; `PORT` defaults to a free one. Rejects when it ends before it listens. */
export async function startProgram(settings: Environment): Promise<Program> {
  const outcome = await launch(settings);
  if ('baseUrl' in outcome) return outcome;
  throw new Error(`the program ended with ${outcome.code ?? outcome.signal}:\n${outcome.stderr}`);
}

/** Starts it where it must not start, and says how it ended. */
export async function failToStart(settings: Environment): Promise<FailedStart> {
  const outcome = await launch(settings);
  if (!('baseUrl' in outcome)) return outcome;
  await outcome.end('SIGKILL');
  throw new Error('the program started, which it must not');
}

async function launch(settings: Environment): Promise<Program | FailedStart> {
  const startedMs = performance.now();
  const child = spawn(process.execPath, ['--enable-source-maps', join(services().builtDir, 'main.js')], {
    env: { PATH: process.env.PATH, HOME: process.env.HOME, LOG_LEVEL: 'warn', PORT: '0', ...settings },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  // A failed test leaves it running; it must not outlive the test process.
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
      // The greeting is written in one piece, its address first.
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
    startMs: performance.now() - startedMs,
    stdout: () => stdout,
    stderr: () => stderr,
    ended,
    end: (signal) => {
      child.kill(signal);
      return ended;
    },
  };
}
