/** The process: reads the environment, starts the service, prints its address, and stops it on a signal. */

import { AddonUnusable } from '../edge/addon.ts';
import { PortTaken } from '../edge/server.ts';
import { ConfigError, parseSettings, type Settings } from '../platform/config.ts';
import { createLog } from '../platform/log.ts';
import { DataDirInUse } from '../storage/data-dir-lock.ts';
import { SchemaError } from '../storage/migrations.ts';
import { SettingUnusable } from '../storage/start-failures.ts';
import { type Easel, startEasel } from './composition.ts';

const EXIT = { ok: 0, failed: 1, wrongSettings: 2 } as const;

/** Failures that are printed without a stack, because the message is all that the user needs. */
const PLAIN = [ConfigError, SettingUnusable, DataDirInUse, SchemaError, PortTaken, AddonUnusable];

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
    // A second signal exits without draining.
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
  // An unhandled rejection interrupts no other code and no response or commit depends on it, so the process continues.
  process.on('unhandledRejection', (err) => log.error({ err }, 'a promise that nobody awaited was rejected: a bug'));
  // The exception may have left memory inconsistent. Everything acknowledged is committed, so exiting loses nothing.
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
