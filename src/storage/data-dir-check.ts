/** Checks in a child process whether the data folder can be used, because the check may hang. */
import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { z } from 'zod';
import { SettingUnusable } from './start-failures.ts';

/** A disk that takes longer for one small file is as good as dead. */
const DEADLINE_MS = 15_000;

const outcome = z.object({ message: z.string().optional(), code: z.string().optional(), path: z.string().optional() });

/** Makes the folder where it is missing. Throws the error of the file system, or `SettingUnusable` when there is no answer in time. */
export async function checkDataDir(folder: string, probeFile: string): Promise<void> {
  const child = spawn(process.execPath, [probeFile, folder], { stdio: ['ignore', 'pipe', 'inherit'] });
  let timer: NodeJS.Timeout | undefined;
  const deadline = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      // A process that hangs in a system call ignores even SIGKILL, so this does not wait for its exit.
      child.kill('SIGKILL');
      child.unref();
      child.stdout.destroy();
      const seconds = DEADLINE_MS / 1000;
      reject(
        new SettingUnusable(
          `DATA_DIR: ${folder} did not answer within ${seconds} s, as on a dead mount. Repair it, or name another folder.`,
        ),
      );
    }, DEADLINE_MS);
  });
  const failed = new Promise<never>((_, reject) => child.once('error', reject));
  try {
    const { message, ...fields } = outcome.parse(JSON.parse(await Promise.race([text(child.stdout), deadline, failed])));
    if (message !== undefined) throw Object.assign(new Error(message), fields);
  } finally {
    clearTimeout(timer);
  }
}
