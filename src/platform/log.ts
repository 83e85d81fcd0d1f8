/** JSON lines on standard error; standard output is for people. */
import pino, { type Logger } from 'pino';
import type { Settings } from './config.ts';

export function createLog(level: Settings['LOG_LEVEL']): Logger {
  return pino(
    {
      level,
      base: { pid: process.pid },
      // Secrets that reach a log line by mistake are removed.
      redact: { paths: ['token', 'authorization', 'password', '*.token', '*.authorization', '*.password'], censor: '[hidden]' },
    },
    pino.destination({ dest: 2, sync: true }),
  );
}
