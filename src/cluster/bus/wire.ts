/** How messages about facts travel: Redis publish/subscribe, one channel for all nodes of an installation. */
import type { RedisConnection } from '../redis.ts';

const CHANNEL = 'facts';

export interface FactWire {
  /** Rejects where it is not known that Redis has taken it, after at most about a second. */
  publish(text: string): Promise<void>;
  /** `message`: of any node, this one included. `up`: messages arrive from now on. `down`: some may have been missed since the last one. */
  listen(listener: { message(text: string): void; up(): void; down(): void }): void;
  /** Replaces the connection by which messages arrive. */
  renew(): void;
}

/** Whoever opened the connections closes them. `subscriptions` has no other use. */
export function redisWire(commands: RedisConnection, subscriptions: RedisConnection): FactWire {
  return new RedisWire(commands, subscriptions);
}

class RedisWire implements FactWire {
  readonly #commands: RedisConnection;
  readonly #subscriptions: RedisConnection;
  readonly #channel: string;

  constructor(commands: RedisConnection, subscriptions: RedisConnection) {
    this.#commands = commands;
    this.#subscriptions = subscriptions;
    this.#channel = commands.channel(CHANNEL);
  }

  async publish(text: string): Promise<void> {
    await this.#commands.client.publish(this.#channel, text);
  }

  listen(listener: { message(text: string): void; up(): void; down(): void }): void {
    const { client } = this.#subscriptions;
    const subscribe = async () => {
      const { stream } = client;
      try {
        await client.subscribe(this.#channel);
        if (client.stream === stream && this.#subscriptions.serverId !== undefined) listener.up();
      } catch {
        // Without a subscription the connection is of no use. A new one tries again; the connection has logged what is wrong with it.
        if (client.stream === stream) client.disconnect(true);
      }
    };
    client.on('message', (_channel: string, text: string) => listener.message(text));
    this.#subscriptions.on('down', () => listener.down());
    this.#subscriptions.on('up', () => void subscribe());
    if (this.#subscriptions.serverId !== undefined) void subscribe();
  }

  renew(): void {
    this.#subscriptions.client.disconnect(true);
  }
}
