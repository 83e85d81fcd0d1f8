/**
 * The way to Redis that all parts of a cluster share. Whoever waits for Redis waits for a bounded time: commands have a deadline, are refused
 * at once while there is no connection, and are never sent a second time, because a lost answer does not tell whether a command took effect.
 */
import { createHmac } from 'node:crypto';
import { EventEmitter } from 'node:events';
import { Redis, type RedisOptions } from 'ioredis';
import type { Log } from '../../actors/runtime/ports.ts';
import { inWords, redisWords } from '../storage/start-failures.ts';

const CONNECT_MS = 2000;
/** A lease lasts 3 s and is renewed each second, so one renewal without an answer leaves time for a second. */
const COMMAND_MS = 1000;
/** A connection that owes an answer for so long is replaced: its other end may be gone without a word. */
const SILENCE_MS = 1500;
const RETRY_FIRST_MS = 50;
const RETRY_MAX_MS = 500;
/** A start fails after so long without a usable connection. */
const START_MS = 10_000;

export interface RedisSettings {
  readonly REDIS_URL: string;
  readonly CLUSTER_SECRET: string;
}

interface RedisEvents {
  /** The connection can be used, the first time or again. What was subscribed before is subscribed again. */
  up: [];
  /** It is lost; a new one is being made. Messages to a subscriber have been missed from here to the next `up`. */
  down: [];
}

/**
 * One connection to Redis that is made again whenever it is lost. Keys of `client` get this installation's prefix by themselves; names of
 * channels do not: take them from `channel`.
 */
export class RedisConnection extends EventEmitter<RedisEvents> {
  readonly client: Redis;
  /** What all keys and channels of this installation begin with. */
  readonly prefix: string;
  #serverId: string | undefined;

  /** Begins to connect. `role` is the connection's name in Redis' list of clients. */
  constructor(settings: RedisSettings, role: 'commands' | 'subscriptions', log: Log) {
    super();
    this.prefix = installationPrefix(settings.CLUSTER_SECRET);
    this.client = new Redis(settings.REDIS_URL, { ...OPTIONS, keyPrefix: this.prefix, connectionName: `easel-${role}` });
    let isTold = false;
    // Each attempt to connect fails with an event of its own; the log gets the first of a row.
    this.client.on('error', (err) => {
      if (!isTold) log.warn({ err, role }, 'the connection to Redis failed, it is being made again');
      isTold = true;
    });
    this.client.on('ready', () => void this.#learnServer(() => (isTold = false)));
    this.client.on('close', () => {
      const wasUp = this.#serverId !== undefined;
      this.#serverId = undefined;
      if (wasUp) this.emit('down');
    });
  }

  /**
   * Which run of which server this is, undefined while there is no usable connection. Another value after a reconnect means another server, or
   * one that has started again: it may have lost what was written last.
   */
  get serverId(): string | undefined {
    return this.#serverId;
  }

  channel(name: string): string {
    return this.prefix + name;
  }

  /** Ends the connection at once; commands without an answer are rejected. */
  close(): void {
    this.removeAllListeners();
    this.client.disconnect();
  }

  async #learnServer(told: () => void): Promise<void> {
    const { stream } = this.client;
    try {
      const info = await this.client.info('server');
      // The connection that was asked may have been replaced while the answer was under way.
      if (this.client.stream !== stream) return;
      this.#serverId = /^run_id:(\w+)/m.exec(info)?.[1] ?? 'unnamed';
    } catch {
      // Without this answer the connection is not used. A new one asks again.
      if (this.client.stream === stream) this.client.disconnect(true);
      return;
    }
    told();
    this.emit('up');
  }
}

const OPTIONS: RedisOptions = {
  connectTimeout: CONNECT_MS,
  commandTimeout: COMMAND_MS,
  socketTimeout: SILENCE_MS,
  enableOfflineQueue: false,
  autoResendUnfulfilledCommands: false,
  maxRetriesPerRequest: 0,
  retryStrategy: (attempt) => Math.min(RETRY_MAX_MS, RETRY_FIRST_MS * 2 ** Math.min(attempt, 10)),
  // A server that has become a replica keeps its connections; a new one may lead to the new primary.
  reconnectOnError: (error) => error.message.startsWith('READONLY'),
};

/** Connects, and puts into words what keeps it from that. Throws `SettingUnusable`, which names REDIS_URL and never its password. */
export async function openRedis(settings: RedisSettings, role: 'commands' | 'subscriptions', log: Log): Promise<RedisConnection> {
  const connection = new RedisConnection(settings, role, log);
  try {
    await inWords(usable(connection), redisWords(settings.REDIS_URL));
    return connection;
  } catch (error) {
    connection.close();
    throw error;
  }
}

/** Resolves at the first `up`. Rejects with the first error, but waits up to START_MS for a server that still loads its data. */
async function usable(connection: RedisConnection): Promise<void> {
  if (connection.serverId !== undefined) return;
  let last: Error | undefined;
  await new Promise<void>((resolve, reject) => {
    const timer = setTimeout(() => end(() => reject(last ?? Object.assign(new Error('no answer'), { code: 'ETIMEDOUT' }))), START_MS);
    const onError = (error: Error) => {
      last = error;
      if (!error.message.startsWith('LOADING')) end(() => reject(error));
    };
    const end = (settle: () => void) => {
      clearTimeout(timer);
      connection.client.off('error', onError);
      settle();
    };
    connection.client.on('error', onError);
    connection.once('up', () => end(resolve));
  });
}

/** Installations on one Redis differ by their secret. Nobody can tell the secret from the prefix. */
function installationPrefix(secret: string): string {
  return `easel:${createHmac('sha256', secret).update('keys in Redis').digest('hex').slice(0, 16)}:`;
}
