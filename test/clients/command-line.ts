/** Runs the built `easel` as a child process with a home folder of its own. */
import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect } from 'vitest';
import { services } from '../support/services.ts';

export interface Run {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}
interface RunOptions {
  /** Default: the home folder. */
  readonly cwd?: string;
  readonly input?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Called with everything on standard error so far, each time that there is more. */
  readonly onError?: (text: string) => void;
  /** Called with a function that sends Ctrl-C. */
  readonly onStart?: (interrupt: () => void) => void;
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
  const run = (args: readonly string[], { cwd = home, input = '', env = {}, onStart, onError }: RunOptions = {}): Promise<Run> =>
    new Promise((resolve, reject) => {
      const base = { PATH: process.env.PATH ?? '', HOME: home, ...(url === undefined ? {} : { EASEL_URL: url }), ...env };
      const child = spawn(process.execPath, [join(services().builtDir, 'cli.js'), ...args], {
        cwd,
        env: base,
      });
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
