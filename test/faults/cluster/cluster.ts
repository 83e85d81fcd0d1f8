/** Several nodes as processes of their own on one Postgres database and a Redis of their own, each behind links that can fail. */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createConnection } from 'node:net';
import { createServerDatabase, temporaryDir } from '../../support/database.ts';
import { keepablePort } from '../../support/ports.ts';
import { type Program, startProgram } from '../../support/program.ts';
import { NetworkLink } from './network-link.ts';

export class ClusterNodeProcess {
  readonly name: string;
  readonly redis: NetworkLink;
  readonly database: NetworkLink;
  readonly #settings: Readonly<Record<string, string>>;
  #program: Program | undefined;
  #baseUrl = '';
  /** What all its processes so far have written to standard error. */
  #said = '';

  constructor(
    name: string,
    links: { readonly redis: NetworkLink; readonly database: NetworkLink },
    settings: Readonly<Record<string, string>>,
  ) {
    this.name = name;
    this.redis = links.redis;
    this.database = links.database;
    this.#settings = settings;
  }

  /** The same after each start. */
  get baseUrl(): string {
    return this.#baseUrl;
  }

  get isRunning(): boolean {
    return this.#program !== undefined;
  }

  get adminToken(): string | undefined {
    return this.#program?.adminToken;
  }

  get said(): string {
    return this.#said + (this.#program?.stderr() ?? '');
  }

  async start(): Promise<void> {
    this.#program = await startProgram(this.#settings);
    this.#baseUrl = this.#program.baseUrl;
  }

  signal(name: NodeJS.Signals): void {
    this.#program?.process.kill(name);
  }

  /** Ends the process and answers its exit code; null where a signal ended it. */
  async end(signal: 'SIGKILL' | 'SIGTERM'): Promise<number | null> {
    const program = this.#program;
    if (program === undefined) throw new Error(`${this.name} is not running`);
    this.#program = undefined;
    const { code } = await program.end(signal);
    this.#said += program.stderr();
    return code;
  }
}

/** A Redis server of the suite's own, which it can stop, pause, empty and start again without what it knew. */
export class OwnRedis {
  readonly port: number;
  #child: ChildProcess | undefined;

  private constructor(port: number) {
    this.port = port;
  }

  static async start(): Promise<OwnRedis> {
    const redis = new OwnRedis(await keepablePort());
    await redis.start();
    return redis;
  }

  async start(): Promise<void> {
    const args = ['--port', String(this.port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'];
    const child = spawn('redis-server', args, { stdio: 'ignore' });
    const failed = once(child, 'error').then(([error]) => {
      throw error;
    });
    const killIt = () => child.kill('SIGKILL');
    process.once('exit', killIt);
    child.once('exit', () => process.off('exit', killIt));
    this.#child = child;
    await Promise.race([this.#answers(), failed]);
    failed.catch(() => undefined);
  }

  async kill(): Promise<void> {
    const child = this.#child;
    if (child === undefined) return;
    this.#child = undefined;
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  }

  signal(name: 'SIGSTOP' | 'SIGCONT'): void {
    this.#child?.kill(name);
  }

  /** Loses everything that it knows. */
  async flush(): Promise<void> {
    await this.#say('FLUSHALL');
  }

  async #answers(): Promise<void> {
    for (;;) {
      if ((await this.#say('PING').catch(() => '')).startsWith('+PONG')) return;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  async #say(command: string): Promise<string> {
    const socket = createConnection(this.port, '127.0.0.1');
    try {
      await once(socket, 'connect');
      socket.write(`${command}\r\n`);
      const [answer] = await once(socket, 'data');
      return String(answer);
    } finally {
      socket.destroy();
    }
  }
}

export class Cluster {
  readonly nodes: readonly ClusterNodeProcess[];
  readonly redis: OwnRedis;
  readonly databaseUrl: string;
  readonly #closing: (() => void | Promise<void>)[];

  private constructor(nodes: readonly ClusterNodeProcess[], redis: OwnRedis, databaseUrl: string, closing: (() => void | Promise<void>)[]) {
    this.nodes = nodes;
    this.redis = redis;
    this.databaseUrl = databaseUrl;
    this.#closing = closing;
  }

  /** Starts so many nodes. */
  static async start(count: number, settings: Readonly<Record<string, string>> = {}): Promise<Cluster> {
    const database = await createServerDatabase();
    const redis = await OwnRedis.start();
    const folder = temporaryDir();
    const closing: (() => void | Promise<void>)[] = [() => folder.remove(), () => database.drop(), () => redis.kill()];
    const shared = {
      CLUSTER_SECRET: randomBytes(24).toString('hex'),
      OBJECTS_DIR: `${folder.path}/objects`,
      DEFAULT_TIER: 'team',
      // A drain must end well, however slow the machine is.
      DRAIN_DEADLINE_S: '120',
      LOG_LEVEL: 'warn',
      ...settings,
    };
    const nodes: ClusterNodeProcess[] = [];
    for (let at = 0; at < count; at += 1) {
      const server = new URL(database.url);
      const links = {
        database: await NetworkLink.to(server.hostname, Number(server.port || 5432)),
        redis: await NetworkLink.to('127.0.0.1', redis.port),
      };
      server.host = `127.0.0.1:${links.database.port}`;
      const own = {
        PORT: String(await keepablePort()),
        PEER_ADDRESS: `127.0.0.1:${await keepablePort()}`,
        DATABASE_URL: server.href,
        REDIS_URL: `redis://127.0.0.1:${links.redis.port}`,
        DATA_DIR: `${folder.path}/node${at}`,
      };
      closing.push(
        () => links.database.close(),
        () => links.redis.close(),
      );
      nodes.push(new ClusterNodeProcess(`node${at}`, links, { ...shared, ...own }));
    }
    const cluster = new Cluster(nodes, redis, database.url, closing);
    for (const node of nodes) await node.start();
    return cluster;
  }

  /** Everything is as it was at the beginning; processes that were ended are started again. */
  async heal(): Promise<void> {
    for (const node of this.nodes) {
      node.redis.heal();
      node.database.heal();
      node.signal('SIGCONT');
    }
    this.redis.signal('SIGCONT');
    for (const node of this.nodes) if (!node.isRunning) await node.start();
  }

  async close(): Promise<void> {
    for (const node of this.nodes) {
      node.signal('SIGCONT');
      if (node.isRunning) await node.end('SIGKILL');
    }
    for (const close of this.#closing.toReversed()) await close();
  }
}
