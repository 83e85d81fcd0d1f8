/** Nodes of one installation on this machine, with a Redis of their own, and HAProxy in front where it is installed. */
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Members } from '../../src/cluster/placement/members.ts';
import { startEasel } from '../servers/easel-process.ts';
import { type BenchDatabase, createDatabase } from '../servers/fixture.ts';
import { cpuUsOfAll, freePort, SERVER_CORE, type Server } from '../servers/processes.ts';

export interface BenchNode {
  readonly name: string;
  readonly peerAddress: string;
  readonly server: Server;
}

export class ClusterStage {
  readonly database: BenchDatabase;
  readonly folder: string;
  readonly redisUrl: string;
  readonly #redis: ChildProcess;
  readonly #shared: Readonly<Record<string, string>>;
  #nodes: BenchNode[] = [];

  private constructor(database: BenchDatabase, folder: string, redis: ChildProcess, shared: Readonly<Record<string, string>>) {
    this.database = database;
    this.folder = folder;
    this.#redis = redis;
    this.#shared = shared;
    this.redisUrl = shared.REDIS_URL ?? '';
  }

  static async start(folder: string, nodes: number): Promise<ClusterStage> {
    if (spawnSync('redis-server', ['--version']).status !== 0) throw new Error('The suite cluster needs the program redis-server.');
    const database = await createDatabase(process.env.BENCH_DATABASE_URL ?? 'postgres://127.0.0.1:5432/postgres');
    const port = await freePort();
    const args = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no', '--dir', folder];
    const redis = spawn('redis-server', args, { stdio: 'ignore' });
    const shared = {
      REDIS_URL: `redis://127.0.0.1:${port}`,
      CLUSTER_SECRET: randomBytes(24).toString('hex'),
      OBJECTS_DIR: join(folder, 'objects'),
      LOG_LEVEL: 'warn',
    };
    const stage = new ClusterStage(database, folder, redis, shared);
    await pause(500);
    for (let at = 0; at < nodes; at += 1) await stage.join(`node${at + 1}`);
    return stage;
  }

  get nodes(): readonly BenchNode[] {
    return this.#nodes;
  }

  /** Starts a node and waits until the others have heard of it. */
  async join(name: string, peerAddress?: string): Promise<BenchNode> {
    const address = peerAddress ?? `127.0.0.1:${await freePort()}`;
    const server = await startEasel({
      dataFolder: join(this.folder, name),
      databaseUrl: this.database.url,
      core: SERVER_CORE,
      settings: { ...this.#shared, PEER_ADDRESS: address },
    });
    const node = { name, peerAddress: address, server };
    this.#nodes.push(node);
    await pause(1500);
    return node;
  }

  /** The process is ended by whoever calls this. */
  without(gone: BenchNode): void {
    this.#nodes = this.#nodes.filter((node) => node !== gone);
  }

  /** The node that is chosen to own the artifact while all are live. */
  chosen(artifactId: string): BenchNode {
    const members = new Members();
    members.update(this.#nodes.map(({ peerAddress, name }) => ({ address: peerAddress, incarnation: name, isDraining: false })));
    const name = members.chosen(artifactId)?.incarnation;
    const node = this.#nodes.find((one) => one.name === name);
    if (node === undefined) throw new Error('There is no node.');
    return node;
  }

  cpuUs(): Promise<number> {
    return cpuUsOfAll(this.#nodes.map(({ server }) => server.pid));
  }

  async stop(): Promise<void> {
    await Promise.all(this.#nodes.map(({ server }) => server.stop()));
    this.#redis.kill('SIGKILL');
    await this.database.drop();
  }
}

export interface Proxy {
  readonly origin: string;
  readonly pid: number;
  stop(): Promise<void>;
}

export function hasHaproxy(): boolean {
  return spawnSync('haproxy', ['-v']).status === 0;
}

/** deploy/proxy/haproxy.cfg, with the nodes of this machine. */
export async function startProxy(folder: string, nodes: readonly BenchNode[]): Promise<Proxy> {
  const port = await freePort();
  const ranks = execFileSync('node', ['deploy/proxy-lines.mjs', ...nodes.map(({ name, peerAddress }) => `${name}=${peerAddress}`)], {
    encoding: 'utf8',
  });
  const servers = (options: string) =>
    nodes.map(({ name, server }) => `  server ${name} ${new URL(server.origin).host} ${options.replace('NAME', name)}`).join('\n');
  const config = readFileSync('deploy/proxy/haproxy.cfg', 'utf8')
    .replace('maxconn 100000', 'maxconn 2000')
    .replace('bind :8787', `bind 127.0.0.1:${port}`)
    .replace('log global', 'no log')
    .replace(/ resolvers names/g, '')
    .replace(/^resolvers names[\s\S]*/m, '')
    .replace(/^ {2}# ranks\n[\s\S]*^ {2}# \/ranks$/m, ranks)
    .replace(/(?:^ {2}server node\d .* check\n)+/gm, `${servers('check')}\n`)
    .replace(/(?:^ {2}server node\d .* track by_key\/node\d\n)+/gm, `${servers('track by_key/NAME')}\n`);
  const file = join(folder, `haproxy-${port}.cfg`);
  writeFileSync(file, config);
  const child = spawn('haproxy', ['-db', '-f', file], { stdio: 'ignore' });
  const origin = `http://127.0.0.1:${port}`;
  for (let attempt = 0; attempt < 100; attempt += 1) {
    const status = await fetch(`${origin}/healthz`, { headers: { connection: 'close' } }).then(
      (answer) => answer.status,
      () => 0,
    );
    if (status === 200) {
      // Two rounds of checks, so that every node counts as up.
      await pause(2500);
      return { origin, pid: child.pid ?? 0, stop: () => ended(child) };
    }
    await pause(50);
  }
  await ended(child);
  throw new Error('HAProxy does not answer.');
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGKILL');
  await once(child, 'exit');
}
