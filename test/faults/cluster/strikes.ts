/** What can go wrong in a cluster, and for how long. Each strike chooses its victims by the seed. */
import postgres from 'postgres';
import type { Random } from '../../support/random.ts';
import type { Cluster } from './cluster.ts';

/** Longer than a lease, and shorter. */
const LONG_MS = 4500;
const SHORT_MS = 1200;

export interface Strike {
  readonly name: string;
  /** Does it, waits as long as it lasts, and leaves everything that `Cluster.heal` mends to that. */
  run(cluster: Cluster, random: Random): Promise<void>;
}

const lasting = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const someTime = (random: Random) => lasting(random.chance(0.5) ? LONG_MS : SHORT_MS);

export const STRIKES: readonly Strike[] = [
  {
    name: 'a node is killed',
    run: async ({ nodes }, random) => {
      await random.pick(nodes).end('SIGKILL');
      await someTime(random);
    },
  },
  {
    name: 'a node is stopped and started',
    run: async ({ nodes }, random) => {
      const node = random.pick(nodes);
      const code = await node.end('SIGTERM');
      if (code !== 0) throw new Error(`${node.name} ended with ${code}: ${node.said}`);
      await node.start();
    },
  },
  {
    name: 'C1 a node is paused and goes on',
    run: async ({ nodes }, random) => {
      const node = random.pick(nodes);
      node.signal('SIGSTOP');
      await someTime(random);
      node.signal('SIGCONT');
    },
  },
  {
    name: 'Redis is killed and comes back empty',
    run: async ({ redis }, random) => {
      await redis.kill();
      await someTime(random);
      await redis.start();
    },
  },
  {
    name: 'C2 Redis forgets everything',
    run: async ({ redis }) => redis.flush(),
  },
  {
    name: 'Redis is paused and goes on',
    run: async ({ redis }, random) => {
      redis.signal('SIGSTOP');
      await someTime(random);
      redis.signal('SIGCONT');
    },
  },
  {
    name: 'a node is cut off from Redis',
    run: async ({ nodes }, random) => {
      random.pick(nodes).redis.cut();
      await someTime(random);
    },
  },
  {
    name: 'what a node sends to Redis, or what it gets, is held back',
    run: async ({ nodes }, random) => {
      random.pick(nodes).redis.hold(random.pick(['there', 'back']));
      await someTime(random);
    },
  },
  {
    name: 'a node is cut off from Postgres',
    run: async ({ nodes }, random) => {
      random.pick(nodes).database.cut();
      await someTime(random);
    },
  },
  {
    name: 'what Postgres answers a node is held back: commits with an unknown outcome',
    run: async ({ nodes }, random) => {
      const node = random.pick(nodes);
      node.database.hold('back');
      await someTime(random);
      node.database.drop();
    },
  },
  {
    name: 'commits of a node are delayed',
    run: async ({ nodes }, random) => {
      random.pick(nodes).database.delay(200 + random.integer(300));
      await someTime(random);
    },
  },
  {
    name: 'Postgres ends every connection',
    run: async ({ databaseUrl }) => {
      const sql = postgres(databaseUrl, { max: 1, onnotice: () => undefined });
      await sql`select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`;
      await sql.end();
    },
  },
];
