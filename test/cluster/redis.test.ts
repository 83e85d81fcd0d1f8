import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { openRedis } from '../../src/cluster/redis.ts';
import { SILENT } from '../sim/world.ts';
import { describeWith, services } from '../support/services.ts';

const settings = () => ({ REDIS_URL: services().redisUrl ?? '', CLUSTER_SECRET: randomBytes(32).toString('hex') });

describeWith('redisUrl')('a connection to Redis', () => {
  it('comes back by itself after it is lost, and refuses commands at once meanwhile', async () => {
    const connection = await openRedis(settings(), 'commands', SILENT);
    onTestFinished(() => connection.close());
    const { client, serverId } = connection;
    expect(serverId).toMatch(/^[0-9a-f]{40}$/);
    const [down, up] = [once(connection, 'down'), once(connection, 'up')];
    client.disconnect(true);
    await down;
    expect(connection.serverId).toBeUndefined();
    await expect(client.get('key')).rejects.toThrow();
    await up;
    expect(connection.serverId).toBe(serverId);
    expect(await client.get('key')).toBeNull();
  });

  it('keeps installations on one Redis apart, their channels too', async () => {
    const [one, other] = await Promise.all([openRedis(settings(), 'commands', SILENT), openRedis(settings(), 'commands', SILENT)]);
    onTestFinished(async () => {
      await one.client.del('key');
      one.close();
      other.close();
    });
    await one.client.set('key', 'mine');
    expect(await other.client.get('key')).toBeNull();
    expect(await other.client.keys(`${one.prefix}*`)).toEqual([`${one.prefix}key`]);
    expect(one.channel('facts')).not.toBe(other.channel('facts'));
  });

  it('names the setting when nothing listens, or another server answers', async () => {
    const silent = createServer((socket: Socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')).listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const { port } = silent.address() as { port: number };
    const open = () => openRedis({ ...settings(), REDIS_URL: `redis://:hidden@127.0.0.1:${port}` }, 'commands', SILENT);
    await expect(open()).rejects.toThrow(/^REDIS_URL: what listens at 127\.0\.0\.1:\d+ is not Redis/);
    silent.close();
    await expect(open()).rejects.toThrow(/^REDIS_URL: Redis at 127\.0\.0\.1:\d+ cannot be reached: nothing listens there/);
  });
});
