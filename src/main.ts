/** The process: reads the environment, starts the service, says where it is, and ends it when it is told to. */
import { type Easel, startEasel } from './app.ts';
import { ConfigError, parseSettings, type Settings } from './config.ts';
import { PortTaken } from './edge/server.ts';
import { createLog } from './log.ts';
import { DataDirInUse } from './storage/data-dir-lock.ts';
import { SchemaError } from './storage/migrations.ts';

const EXIT = { ok: 0, failed: 1, wrongSettings: 2 } as const;

/** Failures whose message says all that the reader can act on; a stack would hide it. */
const PLAIN = [ConfigError, DataDirInUse, SchemaError, PortTaken];

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}

function fail(error: unknown): never {
  const plain = PLAIN.some((kind) => error instanceof kind);
  const text = error instanceof Error ? ((plain ? error.message : error.stack) ?? error.message) : String(error);
  process.stderr.write(`Easel did not start.\n${text}\n`);
  process.exit(error instanceof ConfigError ? EXIT.wrongSettings : EXIT.failed);
}

function greet(easel: Easel): void {
  const { baseUrl, contentHost } = easel.config;
  const where = `Easel is at ${baseUrl}\nPublished pages are at http://{slug}.${contentHost}`;
  if (easel.adminToken === undefined) {
    say(where);
    return;
  }
  say(`${where}

This is the first start. The administrator's token, shown this once:

  ${easel.adminToken}

Sign in with it and publish a folder:

  npx easel login --url ${baseUrl} --token ${easel.adminToken} && npx easel publish ./my-site --visibility public
`);
}

function endOnSignals(easel: Easel, settings: Settings): void {
  let ending = false;
  const end = async (signal: string) => {
    // Whoever asks twice does not want to wait.
    if (ending) process.exit(EXIT.failed);
    ending = true;
    say(`${signal}: finishing open work, at most ${settings.DRAIN_DEADLINE_S} s.`);
    process.exit((await easel.close()) ? EXIT.ok : EXIT.failed);
  };
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => void end(signal));
}

async function main(): Promise<void> {
  const settings = parseSettings(process.env);
  const log = createLog(settings.LOG_LEVEL);
  // Nothing was unwound and nobody waited for it: every answer and every commit stand on their own. The process goes on.
  process.on('unhandledRejection', (err) => log.error({ err }, 'a promise that nobody awaited was rejected: a bug'));
  // A stack was cut at an unknown place, so memory may be half changed. What was acknowledged is committed: ending loses nothing.
  process.on('uncaughtException', (err) => {
    log.fatal({ err }, 'an exception escaped: a bug; the process ends because its memory cannot be trusted');
    process.exit(EXIT.failed);
  });
  const easel = await startEasel(settings, { log });
  endOnSignals(easel, settings);
  void easel.lost.then((err) => {
    log.fatal({ err }, 'the embedded database is gone; the process ends');
    process.exit(EXIT.failed);
  });
  greet(easel);
}

main().catch(fail);
