/** Runs a command line in this process, which is faster, for tests that need no separate one. */
import { Readable, Writable } from 'node:stream';
import { runCommandLine } from '../../src/clients/cli/program.ts';
import type { Shell } from '../../src/clients/cli/session.ts';
import type { Run } from './command-line.ts';

function collector() {
  let text = '';
  const stream = new Writable({
    write: (chunk, _encoding, done) => {
      text += String(chunk);
      done();
    },
  });
  return { stream, text: () => text };
}

export interface InProcess {
  readonly shell: Shell;
  readonly out: () => string;
  readonly err: () => string;
}

export function shellOf(env: Readonly<Record<string, string>>): InProcess {
  const [stdout, stderr] = [collector(), collector()];
  const shell = { env, stdin: Readable.from([]), stdout: stdout.stream, stderr: stderr.stream, signal: new AbortController().signal };
  return { shell, out: stdout.text, err: stderr.text };
}

export async function runInProcess(args: readonly string[], env: Readonly<Record<string, string>>): Promise<Run> {
  const { shell, out, err } = shellOf(env);
  return { code: await runCommandLine(shell, args), out: out(), err: err() };
}
