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
      await cluster.ended;
      await database.drop();
      folder.remove();
    });
    const baseUrl = `http://localhost:${port}`;
    await expect.poll(() => cluster.lines.find((line) => line.includes('nodes are up'))).toContain(`2 nodes are up behind ${baseUrl}`);
    const [target] = await publishTargets({ baseUrl }, 1);
    const path = `/v1/data/${target?.artifactId}`;
    const headers = { authorization: `Bearer ${target?.token}`, 'content-type': 'application/json' };
    const put = await fetch(`${baseUrl}${path}/json/key`, { method: 'PUT', headers, body: '"seen by all"' });
    expect(put.status).toBe(201);
    for (const at of [0, 1, 2]) {
      const got = await fetch(`http://localhost:${port + at}${path}/json/key`, { headers });
      expect([at, await got.json()]).toEqual([at, expect.objectContaining({ data: expect.objectContaining({ value: 'seen by all' }) })]);
    }
    const socket = new WebSocket(`ws://localhost:${port}${path}/channels`, { headers });
    const [frame] = await once(socket, 'message');
    expect(JSON.parse(String(frame))).toMatchObject({ type: 'hello' });
    cluster.kill('SIGTERM');
    expect(await cluster.ended).toBe(0);
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
