/** Runs a command line in this process, which is faster, for tests that need no separate one. */
import { Readable, Writable } from 'node:stream';
import { runCommandLine } from '../../src/clients/cli/program.ts';
import type { Shell } from '../../src/clients/cli/session.ts';

export interface Run {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

function collector(onText?: (text: string) => void) {
  let text = '';
  const stream = new Writable({
    write: (chunk, _encoding, done) => {
      text += String(chunk);
      onText?.(text);
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

interface Given {
  readonly input?: string;
  /** Called with everything on standard error so far. */
  readonly onError?: (text: string) => void;
}

export function shellOf(env: Readonly<Record<string, string>>, { input = '', onError }: Given = {}): InProcess {
  const [stdout, stderr] = [collector(), collector(onError)];
  const shell = {
    env,
    stdin: Readable.from(input === '' ? [] : [Buffer.from(input)]),
    stdout: stdout.stream,
    stderr: stderr.stream,
    signal: new AbortController().signal,
  };
  return { shell, out: stdout.text, err: stderr.text };
}

export async function runInProcess(args: readonly string[], env: Readonly<Record<string, string>>, given?: Given): Promise<Run> {
  const { shell, out, err } = shellOf(env, given);
  return { code: await runCommandLine(shell, args), out: out(), err: err() };
}
