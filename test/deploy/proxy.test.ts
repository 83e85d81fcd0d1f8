/** A real HAProxy with deploy/proxy/haproxy.cfg chooses the node that owns the artifact, as the nodes do. */
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { newId } from '../../protocol/core/ids.ts';
import { Members } from '../../src/cluster/placement/members.ts';
import { xxh32 } from '../../src/cluster/placement/xxh32.ts';
import { temporaryDir } from '../support/database.ts';
import { keepablePort } from '../support/ports.ts';
import { startProgram } from '../support/program.ts';

const root = join(import.meta.dirname, '../..');
const CONFIG = readFileSync(join(root, 'deploy/proxy/haproxy.cfg'), 'utf8');
const NAMES = ['node1', 'node2', 'node3'];
const ARTIFACTS = 600;

const nodeOf = (name: string) => ({ address: `${name}:8790`, incarnation: name, isDraining: false });

function lines(...nodes: string[]): string {
  return execFileSync('node', ['deploy/proxy-lines.mjs', ...nodes], { cwd: root, encoding: 'utf8' });
}

test.each([
  ['', 0, 0x02cc5d05],
  ['a', 0, 0x550d7456],
  ['abc', 0, 0x32d153ff],
  ['', 0x9e3779b1, 0x36b78ae7],
  ['Nobody inspects the spammish repetition', 0, 0xe2293b2f],
])('XXH32 of "%s" with seed %i is that of its authors', (text, seed, hash) => {
  expect(xxh32(text, seed)).toBe(hash);
});

test('haproxy.cfg has the lines that deploy/proxy-lines.mjs prints for its nodes', () => {
  const [, ranks] = /^ {2}# ranks\n([\s\S]*?)^ {2}# \/ranks$/m.exec(CONFIG) ?? [];
  expect(ranks).toBe(lines(...NAMES.map((name) => `${name}=${name}:8790`)));
});

test.each([[], ['node1'], ['node1=node1'], ['=node1:8790']])('deploy/proxy-lines.mjs refuses %s with an example', (...nodes) => {
  const { status, stderr } = spawnSync('node', ['deploy/proxy-lines.mjs', ...nodes], { cwd: root, encoding: 'utf8' });
  expect([status, stderr]).toEqual([2, expect.stringContaining('Example: node deploy/proxy-lines.mjs')]);
});

/** Answers with its name, and as Easel does only where the request has a Host. */
async function standIn(name: string): Promise<Server> {
  const server = createServer((request, response) => {
    if (request.headers.host === undefined || request.httpVersion !== '1.1') response.statusCode = 400;
    response.end(name);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return server;
}

// Skipped without the program, which CI installs.
describe.skipIf(spawnSync('haproxy', ['-v']).status !== 0)('HAProxy', () => {
  /** With the file as it is, but for addresses, and few connections: HAProxy asks for two descriptors each. */
  async function proxy(ports: readonly number[]) {
    const folder = temporaryDir();
    const port = await keepablePort();
    let config = CONFIG.replace('bind :8787', `bind 127.0.0.1:${port}`)
      .replace('maxconn 100000', 'maxconn 1000')
      .replace(/ resolvers names/g, '')
      .replace(/^resolvers names[\s\S]*/m, '');
    ports.forEach((to, at) => {
      config = config.replaceAll(`${NAMES[at]}:8787`, `127.0.0.1:${to}`);
    });
    const file = join(folder.path, 'haproxy.cfg');
    writeFileSync(file, config);
    const child = spawn('haproxy', ['-db', '-f', file], { stdio: 'ignore' });
    onTestFinished(() => {
      child.kill('SIGKILL');
      folder.remove();
    });
    const askFor = async (path: string) => {
      const response = await fetch(`http://127.0.0.1:${port}${path}`);
      return response.status === 200 ? response.text() : String(response.status);
    };
    return askFor;
  }

  const members = new Members();
  const ids = Array.from({ length: ARTIFACTS }, () => newId('artifact'));
  const chosen = () => ids.map((id) => members.chosen(id)?.incarnation);

  test('sends every call of an artifact to its owner, and to the next one where that is down', async () => {
    const servers = await Promise.all(NAMES.map(standIn));
    const askFor = await proxy(servers.map((server) => (server.address() as AddressInfo).port));
    members.update(NAMES.map(nodeOf));
    const all = () => Promise.all(ids.map((id) => askFor(`/v1/data/${id}/json/key`).catch(() => '')));
    // From the first check on, every node counts as up.
    await expect.poll(all).toEqual(chosen());
    expect(new Set(chosen())).toEqual(new Set(NAMES));
    servers[1]?.closeAllConnections();
    servers[1]?.close();
    members.update(['node1', 'node3'].map(nodeOf));
    await expect.poll(all).toEqual(chosen());
  });

  test('counts a node of Easel as up', async () => {
    const folder = temporaryDir();
    const program = await startProgram({ DATA_DIR: folder.path, LOG_LEVEL: 'silent' });
    onTestFinished(async () => {
      await program.end('SIGKILL');
      folder.remove();
    });
    const port = Number(new URL(program.baseUrl).port);
    const askFor = await proxy([port, port, port]);
    // Easel's own answer about an artifact that is not there. Without a node that is up HAProxy answers 503.
    await expect.poll(() => askFor(`/v1/data/${newId('artifact')}/json/key`).catch(() => '')).toBe('404');
  });
});
