/** `easel login` up to the moment when a person is asked to approve it. */
import type { CommandLine } from './command-line.ts';
import type { Run } from './in-process.ts';

export interface BegunLogin {
  readonly url: string;
  readonly code: string;
  /** The end of the command. */
  readonly done: Promise<Run>;
}

/** Starts `easel login` and answers what it prints for the person, and its end. */
export async function beginLogin(line: CommandLine, ...more: string[]): Promise<BegunLogin> {
  let done: Promise<Run> | undefined;
  const [url, code] = await new Promise<[string, string]>((resolve, reject) => {
    const onError = (text: string) => {
      const [, address, shown] = /^\s+(http\S+)\n.*approve the code ([A-Z]{4}-[A-Z]{4})/m.exec(text) ?? [];
      if (address !== undefined && shown !== undefined) resolve([address, shown]);
    };
    done = line.run(['login', '--no-browser', ...more], { onError });
    done.then(({ err }) => reject(new Error(`login ended: ${err}`)), reject);
  });
  if (done === undefined) throw new Error('login was not started');
  return { url, code, done };
}
