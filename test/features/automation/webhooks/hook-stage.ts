/** A service, a host that takes its webhooks, and short forms of calls, for the tests of webhooks. */
import { expect } from 'vitest';
import { startTestEasel, type TestEasel, type TestEaselOptions, type TestUser } from '../../../support/easel.ts';
import { HookReceiver, type Received } from '../../../support/hook-receiver.ts';
import { json, patch, post } from '../../../support/requests.ts';

export interface Hook {
  readonly id: string;
  readonly secret: string;
  readonly path: string;
}

export interface HookStage {
  readonly easel: TestEasel;
  readonly host: HookReceiver;
  /** A webhook to a path of the host. */
  hook(user: TestUser, body: object): Promise<Hook>;
  put(user: TestUser, artifactId: string, key: string, value: unknown): Promise<void>;
  /** Lets time pass, a second at a time, until so many deliveries have come to a path. */
  received(path: string, count: number): Promise<readonly Received[]>;
  read(user: TestUser, hook: Pick<Hook, 'id'>): Promise<{ readonly enabled: boolean; readonly disabled_reason: string | null }>;
  // biome-ignore lint/suspicious/noExplicitAny: the tests say what the answer holds
  deliveries(user: TestUser, hook: Pick<Hook, 'id'>, query?: string): Promise<any[]>;
  change(user: TestUser, hook: Pick<Hook, 'id'>, body: object): Promise<Response>;
  close(): Promise<void>;
}

export async function hookStage(options: TestEaselOptions = {}): Promise<HookStage> {
  const host = await HookReceiver.start();
  const easel = await startTestEasel({ ...options, settings: { ...host.settings, ...options.settings } });
  let paths = 0;
  return {
    easel,
    host,
    async hook(user, body) {
      paths += 1;
      const path = `/hook-${paths}`;
      const reply = await easel.fetch('/v1/webhooks', { token: user.token, ...post({ url: host.url(path), ...body }) });
      const answer = await json(reply);
      expect([reply.status, answer.code]).toEqual([201, undefined]);
      return { id: answer.webhook.id, secret: answer.secret, path };
    },
    async put(user, artifactId, key, value) {
      const init = { method: 'PUT', token: user.token, headers: { 'content-type': 'application/json' }, body: JSON.stringify(value) };
      expect((await easel.fetch(`/v1/data/${artifactId}/json/${key}`, init)).status).toBeLessThan(300);
    },
    async received(path, count) {
      const seen = () => {
        easel.clock.advance(1000);
        return host.at(path).length;
      };
      await expect.poll(seen, { timeout: 60_000 }).toBeGreaterThanOrEqual(count);
      return host.at(path);
    },
    read: async (user, { id }) => json(await easel.fetch(`/v1/webhooks/${id}`, { token: user.token })),
    deliveries: async (user, { id }, query = '') =>
      (await json(await easel.fetch(`/v1/webhooks/${id}/deliveries${query}`, { token: user.token }))).deliveries,
    change: (user, { id }, body) => easel.fetch(`/v1/webhooks/${id}`, { token: user.token, ...patch(body) }),
    async close() {
      await easel.close();
      host.close();
    },
  };
}
