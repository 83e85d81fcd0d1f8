/**
 * Runs `easel` with a home folder of its own: in this process, because a child takes most of a second to load, or as the built program where a
 * test interrupts it, asks for a process of its own, or runs it beside another command in another folder.
 */
import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect } from 'vitest';
import { services } from '../support/services.ts';
import { type Run, runInProcess } from './in-process.ts';

interface RunOptions {
  /** Default: the home folder. */
  readonly cwd?: string;
  readonly input?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Called with everything on standard error so far, each time that there is more. */
  readonly onError?: (text: string) => void;
  /** Called with a function that sends Ctrl-C. */
  readonly onStart?: (interrupt: () => void) => void;
  /** As the built program. */
  readonly asProcess?: boolean;
}

export interface CommandLine {
  /** The user's home folder; tests put their folders in it. */
  readonly home: string;
  /** Writes files below the home folder. */
  write(files: Readonly<Record<string, string | Buffer>>): Promise<void>;
  run(args: readonly string[], options?: RunOptions): Promise<Run>;
  /** With --json; expects exit code 0 and nothing on standard error. */
  // biome-ignore lint/suspicious/noExplicitAny: tests read the documents of all commands.
  json(args: readonly string[], options?: RunOptions): Promise<any>;
  close(): Promise<void>;
}

export async function commandLine(url?: string): Promise<CommandLine> {
  const home = await mkdtemp(join(tmpdir(), 'easel-cli-'));
  const run = (args: readonly string[], options: RunOptions = {}): Promise<Run> => {
    const { cwd = home, env = {}, onStart, asProcess } = options;
    const base = { PATH: process.env.PATH ?? '', HOME: home, ...(url === undefined ? {} : { EASEL_URL: url }), ...env };
    if (asProcess || onStart !== undefined || (folder.users > 0 && process.cwd() !== cwd)) return runChild(args, cwd, base, options);
    return inFolder(cwd, () => runInProcess(args, base, options));
  };
  return {
    home,
    run,
    write: async (files) => {
      for (const [path, content] of Object.entries(files)) {
        await mkdir(dirname(join(home, path)), { recursive: true });
        await writeFile(join(home, path), content);
      }
    },
    json: async (args, options) => {
      const done = await run([...args, '--json'], options);
      expect(done).toMatchObject({ code: 0, err: '' });
      return JSON.parse(done.out);
    },
    close: () => rm(home, { recursive: true, force: true }),
  };
}

/** The folder of this process, which commands in it share. */
const folder = { users: 0, before: '' };

async function inFolder<T>(cwd: string, work: () => Promise<T>): Promise<T> {
  if (folder.users === 0) {
    folder.before = process.cwd();
    process.chdir(cwd);
  }
  folder.users += 1;
  try {
    return await work();
  } finally {
    folder.users -= 1;
    if (folder.users === 0) process.chdir(folder.before);
  }
}

function runChild(
  args: readonly string[],
  cwd: string,
  env: Readonly<Record<string, string>>,
  { input = '', onStart, onError }: RunOptions,
): Promise<Run> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [join(services().builtDir, 'cli.js'), ...args], { cwd, env });
    let out = '';
    let err = '';
    child.stdout.on('data', (chunk: Buffer) => {
      out += chunk.toString();
    });
    child.stderr.on('data', (chunk: Buffer) => {
      err += chunk.toString();
      onError?.(err);
    });
    child.once('error', reject);
    onStart?.(() => child.kill('SIGINT'));
    child.once('close', (code) => resolve({ code, out, err }));
    child.stdin.end(input);
  });
}
