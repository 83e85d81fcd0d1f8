/** A page with live data, rules on it, and a host that gets what they send. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'vitest';
import type { TestEasel, TestUser } from '../../../support/easel.ts';
import { json, patch, post, published } from '../../../support/requests.ts';

export const HOUR_MS = 3_600_000;

export interface Received {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

/** A host outside. `answer` decides what it says; by default 200. */
export class Destination {
  readonly received: Received[] = [];
  answer: (response: ServerResponse, received: Received) => void = (response) => response.end('ok');
  readonly #server: Server;

  constructor() {
    this.#server = createServer(async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      const received = {
        method: request.method ?? '',
        url: request.url ?? '',
        headers: request.headers,
        body: Buffer.concat(chunks).toString(),
      };
      this.received.push(received);
      this.answer(response, received);
    });
  }

  async open(): Promise<void> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }
}

export interface AlertPage {
  readonly id: string;
  readonly owner: TestUser;
}

export interface EventShown {
  readonly id: string;
  readonly at: string;
  readonly value: number | null;
  readonly fired: boolean;
  readonly recovered: boolean;
  readonly delivered: boolean;
  readonly attempts: number;
  readonly error: string | null;
}

export class AlertStage {
  readonly easel: TestEasel;

  constructor(easel: TestEasel) {
    this.easel = easel;
  }

  async page(): Promise<AlertPage> {
    const owner = await this.easel.newUser('pro');
    const { id } = await published(this.easel, owner);
    return { id, owner };
  }

  call({ owner }: Pick<AlertPage, 'owner'>, path: string, init: RequestInit = {}): Promise<Response> {
    return this.easel.fetch(path, { token: owner.token, ...init });
  }

  // biome-ignore lint/suspicious/noExplicitAny: the tests say what the answer holds.
  async ok(page: Pick<AlertPage, 'owner'>, path: string, init: RequestInit = {}): Promise<any> {
    const reply = await this.call(page, path, init);
    const body = await json(reply);
    if (reply.status >= 300) throw new Error(`${path} answered ${reply.status}: ${JSON.stringify(body)}`);
    return body;
  }

  async setValue(page: AlertPage, value: unknown, key = 'stats'): Promise<void> {
    await this.ok(page, `/v1/data/${page.id}/json/${key}`, { ...post({ value }), method: 'PUT' });
  }

  define(page: AlertPage, more: object = {}): Promise<unknown> {
    const body = { artifact_id: page.id, metric_id: 'value', source: { kind: 'json_path', key: 'stats', path: '$.value' }, ...more };
    return this.ok(page, '/v1/metric-alerts/definitions', { ...post(body), method: 'PUT' });
  }

  // biome-ignore lint/suspicious/noExplicitAny: as above.
  rule(page: AlertPage, more: object = {}): Promise<any> {
    return this.ok(page, '/v1/metric-alerts', post({ ...this.ruleBody(page), ...more }));
  }

  ruleBody(page: AlertPage) {
    return {
      artifact_id: page.id,
      metric_id: 'value',
      name: 'Too much',
      condition: { op: 'gt', value: 10 },
      schedule: '0 * * * *',
      destination: { kind: 'bell', config: {} },
      cooldown_seconds: 0,
    };
  }

  // biome-ignore lint/suspicious/noExplicitAny: as above.
  change(page: AlertPage, id: string, body: object): Promise<any> {
    return this.ok(page, `/v1/metric-alerts/${id}`, patch(body));
  }

  async events(page: AlertPage, id: string, query = ''): Promise<EventShown[]> {
    return (await this.ok(page, `/v1/metric-alerts/${id}/events${query}`)).events;
  }

  /** Has a value evaluated at the next full hour, and answers the event. */
  async evaluated(page: AlertPage, id: string, value?: unknown): Promise<EventShown> {
    if (value !== undefined) await this.setValue(page, value);
    const before = (await this.events(page, id)).length;
    this.easel.clock.advance(HOUR_MS - (this.easel.clock.nowMs() % HOUR_MS));
    await this.passing(async () => (await this.events(page, id)).length, before + 1);
    const [event] = await this.events(page, id);
    if (event === undefined) throw new Error('there is no event');
    return event;
  }

  /** Time passes until it is so. */
  async passing<T>(read: () => Promise<T>, wanted: T): Promise<void> {
    const step = async () => {
      this.easel.clock.advance(5000);
      return read();
    };
    await expect.poll(step, { interval: 20 }).toEqual(wanted);
  }

  async bell({ owner }: AlertPage): Promise<string[]> {
    const { notifications } = await this.ok({ owner }, '/v1/notifications');
    return notifications.map(({ title }: { title: string }) => title);
  }
}
