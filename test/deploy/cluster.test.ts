/** `npm run cluster`, as somebody runs it who wants to see nodes work together. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, onTestFinished, test } from 'vitest';
import { WebSocket } from 'ws';
import { createServerDatabase, temporaryDir } from '../support/database.ts';
import { keepablePort } from '../support/ports.ts';
import { describeWith, services } from '../support/services.ts';
import { publishTargets } from '../support/writers.ts';

const root = join(import.meta.dirname, '../..');

interface Started {
  readonly lines: string[];
  /** Resolves with the exit code. */
  readonly ended: Promise<number | null>;
  kill(signal: NodeJS.Signals): void;
}

function start(settings: Readonly<Record<string, string>>): Started {
  const child = spawn(process.execPath, ['deploy/cluster.mjs'], {
    cwd: root,
    env: { PATH: process.env.PATH, BUILD_DIR: services().builtDir, ...settings },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const lines: string[] = [];
  for (const stream of [child.stdout, child.stderr]) createInterface(stream).on('line', (line) => lines.push(line));
  const ended = once(child, 'exit').then(([code]) => code as number | null);
  return { lines, ended, kill: (signal) => void child.kill(signal) };
}

/** Ends what hangs, before the test itself ends without a word of where. */
const PATIENCE_MS = 45_000;

/** Rejects with what the cluster has said meanwhile. */
async function inTime<T>(step: string, { lines }: Started, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const signal = AbortSignal.timeout(PATIENCE_MS);
  const late = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () =>
      reject(new Error(`${step}: nothing within ${PATIENCE_MS} ms. The cluster said:\n${lines.join('\n')}`)),
    );
  });
  return Promise.race([work(signal), late]);
}

describeWith('redisUrl')('npm run cluster', () => {
  test('starts nodes behind one address, which serve one artifact together, and ends with all of them', async () => {
    const [database, folder] = [await createServerDatabase('empty'), temporaryDir()];
    const port = await keepablePort();
    const redisUrl = services().redisUrl ?? '';
    const settings = {
      PORT: String(port),
      NODES: '2',
      DATABASE_URL: database.url,
      REDIS_URL: redisUrl,
      DATA_DIR: folder.path,
      LOG_LEVEL: 'warn',
    };
    const cluster = start(settings);
    onTestFinished(async () => {
      cluster.kill('SIGTERM');
      await inTime('ending', cluster, () => cluster.ended).catch(() => cluster.kill('SIGKILL'));
      await database.drop();
      folder.remove();
    });
    const baseUrl = `http://localhost:${port}`;
    await expect.poll(() => cluster.lines.find((line) => line.includes('nodes are up'))).toContain(`2 nodes are up behind ${baseUrl}`);
    const [target] = await inTime('publishing', cluster, () => publishTargets({ baseUrl }, 1));
    const path = `/v1/data/${target?.artifactId}`;
    const headers = { authorization: `Bearer ${target?.token}`, 'content-type': 'application/json' };
    const put = await inTime('writing', cluster, (signal) =>
      fetch(`${baseUrl}${path}/json/key`, { method: 'PUT', headers, body: '"seen by all"', signal }),
    );
    expect(put.status).toBe(201);
    for (const at of [0, 1, 2]) {
      const url = `http://localhost:${port + at}${path}/json/key`;
      const got = await inTime(`reading at ${at}`, cluster, (signal) => fetch(url, { headers, signal }));
      expect([at, await got.json()]).toEqual([at, expect.objectContaining({ data: expect.objectContaining({ value: 'seen by all' }) })]);
    }
    const socket = new WebSocket(`ws://localhost:${port}${path}/channels`, { headers });
    const [frame] = await inTime('connecting', cluster, (signal) => once(socket, 'message', { signal }));
    expect(JSON.parse(String(frame))).toMatchObject({ type: 'hello' });
    cluster.kill('SIGTERM');
    expect(await inTime('ending', cluster, () => cluster.ended)).toBe(0);
    expect(cluster.lines).toContain('node1 has ended.');
    expect(cluster.lines).toContain('node2 has ended.');
  });
});

test('npm run cluster says what it lacks', async () => {
  const folder = temporaryDir();
  const lacking = start({ DATABASE_URL: 'postgres://127.0.0.1:1/none', DATA_DIR: folder.path });
  expect(await lacking.ended).toBe(1);
  expect(lacking.lines.join('\n')).toBe('Postgres does not answer at 127.0.0.1:1 (ECONNREFUSED). Start it, or set DATABASE_URL.');
  folder.remove();
});
