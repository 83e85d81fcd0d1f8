/** Every command of the runbook: those for a node, Postgres and Redis are run against real ones; the others are checked for their syntax. */
import { execFile, execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { testCluster } from '../support/cluster.ts';
import { describeWith, services } from '../support/services.ts';

const run = promisify(execFile);
const RUNBOOK = readFileSync(join(import.meta.dirname, '../../deploy/RUNBOOK.md'), 'utf8');
const BLOCKS = [...RUNBOOK.matchAll(/^```sh ?(\w*)\n(.*?)^```$/gms)].map(([, kind = '', text = '']) => ({ kind, text }));

it('blocks for other places are shell, begin with their tool', () => {
  for (const { kind, text } of BLOCKS) {
    execFileSync('bash', ['-n'], { input: text });
    if (kind === '' || kind === 'setting') continue;
    expect(['kubectl', 'docker']).toContain(kind);
    for (const line of text.trim().split('\n')) expect(line.startsWith(`${kind} `), line).toBe(true);
  }
});

describeWith('redisUrl')('commands', () => {
  it('run as they stand', async () => {
    const cluster = await testCluster();
    const node = await cluster.start();
    const environment = { ...process.env, NODE: node.baseUrl, DATABASE_URL: cluster.databaseUrl, REDIS_URL: services().redisUrl ?? '' };
    const commands = BLOCKS.filter(({ kind }) => kind === '').flatMap(({ text }) => text.trim().split('\n'));
    expect(commands.length).toBeGreaterThan(12);
    for (const command of commands) {
      const script = `set -e -u; ${command}`;
      const { stdout } = await run('bash', ['-c', script], { env: environment }).catch((error: Error) => {
        throw new Error(`${command}\n${error.message}`);
      });
      // Failures are what a healthy node does not have.
      if (!command.includes('status="5')) expect(stdout.trim(), command).not.toBe('');
    }
  });
});
