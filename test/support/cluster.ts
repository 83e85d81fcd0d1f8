/** Several nodes as processes of their own, on one database and one Redis, as an operator starts them. */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { openRedis, type RedisConnection } from '../../src/cluster/redis.ts';
import { createServerDatabase, SILENT, temporaryDir } from './database.ts';
import { keepablePort } from './ports.ts';
import { type Program, startProgram } from './program.ts';
import { services } from './services.ts';

export interface ClusterNode extends Program {
  /** Its PEER_ADDRESS. */
  readonly peerAddress: string;
}

export interface TestCluster {
  readonly databaseUrl: string;
  /** Keys of this installation. */
  readonly redis: RedisConnection;
  start(settings?: Readonly<Record<string, string>>): Promise<ClusterNode>;
  /** The node that owns the artifact, as Redis has it; undefined where that is none of them. */
  ownerOf(artifactId: string): Promise<ClusterNode | undefined>;
}

/** Nodes, database and keys end with the test. */
export async function testCluster(): Promise<TestCluster> {
  const folder = temporaryDir();
  const database = await createServerDatabase();
  const shared = {
    DATA_DIR: folder.path,
    OBJECTS_DIR: join(folder.path, 'objects'),
    DATABASE_URL: database.url,
    REDIS_URL: services().redisUrl ?? '',
    CLUSTER_SECRET: randomBytes(32).toString('hex'),
  };
  const redis = await openRedis(shared, 'commands', SILENT);
  const nodes: ClusterNode[] = [];
  onTestFinished(async () => {
    for (const { process } of nodes) process.kill('SIGCONT');
    await Promise.all(nodes.map((node) => node.end('SIGKILL')));
    for (const key of await redis.client.keys(`${redis.prefix}*`)) await redis.client.del(key.slice(redis.prefix.length));
    redis.close();
    await database.drop();
    folder.remove();
  });
  return {
    databaseUrl: database.url,
    redis,
    async start(settings = {}) {
      const peerAddress = `127.0.0.1:${await keepablePort()}`;
      const node = { ...(await startProgram({ ...shared, LOG_LEVEL: 'silent', PEER_ADDRESS: peerAddress, ...settings })), peerAddress };
      nodes.push(node);
      return node;
    },
    async ownerOf(artifactId) {
      const claim = await redis.client.hget('claims', artifactId);
      const address = claim === null ? null : await redis.client.get(`node:${claim.split(' ')[0]}`);
      return nodes.find(({ peerAddress }) => peerAddress === address?.split(' ')[0]);
    },
  };
}
