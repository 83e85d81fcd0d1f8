/** A Redis of a test's own, which it may kill. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { onTestFinished } from 'vitest';
import { temporaryDir } from './database.ts';
import { keepablePort } from './ports.ts';

export interface RedisServer {
  readonly url: string;
  readonly port: number;
  /** Without a word to anybody, and without what it held. */
  kill(): Promise<void>;
  start(): Promise<void>;
}

/** Whether this machine has the program. */
export function hasRedisServer(): boolean {
  return spawnSync('redis-server', ['--version']).status === 0;
}

/** Ends with the test. */
export async function redisServer(): Promise<RedisServer> {
  const port = await keepablePort();
  const folder = temporaryDir();
  let running: ChildProcess | undefined;
  const kill = async () => {
    if (running === undefined) return;
    const ended = once(running, 'exit');
    running.kill('SIGKILL');
    await ended;
    running = undefined;
  };
  const start = async () => {
    const child = spawn(
      'redis-server',
      ['--port', `${port}`, '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no', '--dir', folder.path],
      {
        stdio: ['ignore', 'pipe', 'inherit'],
      },
    );
    running = child;
    await new Promise<void>((resolve, reject) => {
      let said = '';
      child.stdout.setEncoding('utf8').on('data', (text: string) => {
        said += text;
        if (said.includes('Ready to accept connections')) resolve();
      });
      child.once('exit', () => reject(new Error(`redis-server ended:\n${said}`)));
    });
  };
  onTestFinished(async () => {
    await kill();
    folder.remove();
  });
  await start();
  return { url: `redis://127.0.0.1:${port}`, port, kill, start };
}
