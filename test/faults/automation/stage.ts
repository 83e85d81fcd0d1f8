/** Two nodes on one database, the first of them behind a link that can be cut, and a host that keeps its answers back. */
import type { ServerResponse } from 'node:http';
import { expect } from 'vitest';
import type { Run } from '../../../protocol/automation/jobs.ts';
import { temporaryDir } from '../../support/database.ts';
import { startTestEasel, type TestEasel, type TestUser, testStorage } from '../../support/easel.ts';
import { HookReceiver } from '../../support/hook-receiver.ts';
import { json, post, published } from '../../support/requests.ts';
import { NetworkLink } from '../cluster/network-link.ts';

export class TwoNodes {
  /** Its database is behind `link`. */
  readonly first: TestEasel;
  readonly second: TestEasel;
  readonly link: NetworkLink;
  readonly host: HookReceiver;
  /** Answers that the host keeps back, by path, in the order of their calls. */
  readonly held = new Map<string, ServerResponse[]>();
  readonly #closing: (() => unknown)[];

  private constructor(nodes: readonly [TestEasel, TestEasel], link: NetworkLink, host: HookReceiver, closing: (() => unknown)[]) {
    [this.first, this.second] = nodes;
    this.link = link;
    this.host = host;
    this.#closing = closing;
    this.answerAll();
  }

  static async start(): Promise<TwoNodes> {
    const storage = await testStorage('postgres');
    const host = await HookReceiver.start();
    const folder = temporaryDir();
    const server = new URL(storage.settings.DATABASE_URL ?? '');
    const link = await NetworkLink.to(server.hostname, Number(server.port || 5432));
    server.host = `127.0.0.1:${link.port}`;
    const first = await startTestEasel({ storage, settings: { ...host.settings, DATABASE_URL: server.href } });
    const second = await startTestEasel({ storage, settings: { ...host.settings, DATA_DIR: folder.path } });
    const closing = [
      () => first.close(),
      () => second.close(),
      () => link.close(),
      () => storage.remove(),
      () => host.close(),
      () => folder.remove(),
    ];
    return new TwoNodes([first, second], link, host, closing);
  }

  async close(): Promise<void> {
    this.link.heal();
    for (const close of this.#closing) await close();
  }

  answerAll(): void {
    this.host.answers = (_, response) => response.writeHead(200).end('at once');
  }

  /** Calls to these paths stay without an answer. */
  holdBack(...paths: string[]): void {
    this.host.answers = ({ path }, response) => {
      if (paths.includes(path)) this.held.set(path, [...(this.held.get(path) ?? []), response]);
      else response.writeHead(200).end('at once');
    };
  }

  /** The answer to the `nth` call of those that were kept back. */
  answer(path: string, nth: number, status: number, text: string): void {
    this.held.get(path)?.[nth]?.writeHead(status).end(text);
  }

  async page(): Promise<{ readonly id: string; readonly owner: TestUser }> {
    const owner = await this.first.newUser('pro');
    return { id: (await published(this.first, owner)).id, owner };
  }

  /** Throws where the call is refused. */
  // biome-ignore lint/suspicious/noExplicitAny: the tests say what the answer holds.
  async call({ token }: TestUser, method: string, path: string, body?: unknown): Promise<any> {
    const reply = await this.first.fetch(path, { ...post(body), method, token });
    const answer = await json(reply);
    if (!reply.ok) throw new Error(`${method} ${path} answered ${reply.status}: ${JSON.stringify(answer)}`);
    return answer;
  }

  /** A job that posts to a path of the host. It is made on the first node. */
  async job(page: { readonly id: string; readonly owner: TestUser }, path: string, more: object = {}): Promise<string> {
    const { id } = await this.call(page.owner, 'POST', '/v1/jobs', {
      artifact_id: page.id,
      title: 'A job',
      action: 'webhook',
      trigger_type: 'cron',
      schedule: '0 0 1 1 *',
      config: { url: this.host.url(path) },
      retry_config: { maxAttempts: 1, backoff: 'fixed', initialDelay: 1 },
      ...more,
    });
    return id;
  }

  async run(owner: TestUser, jobId: string): Promise<string> {
    return (await this.call(owner, 'POST', `/v1/jobs/${jobId}/run`)).run.id;
  }

  async ledger(owner: TestUser, jobId: string): Promise<readonly Run[]> {
    return (await this.call(owner, 'GET', `/v1/jobs/${jobId}/logs?limit=100`)).runs;
  }

  async ended(owner: TestUser, jobId: string, count = 1): Promise<readonly Run[]> {
    const over = async () => {
      this.pass();
      return (await this.ledger(owner, jobId)).filter(({ status }) => status !== 'queued' && status !== 'running').length;
    };
    await expect.poll(over).toBe(count);
    return this.ledger(owner, jobId);
  }

  /** A busy machine may have been too slow for a look of the first node: then it looks again after a moment of its clock. */
  pass(): void {
    this.first.clock.advance(1000);
  }

  async received(path: string, count: number, meanwhile: () => unknown = () => this.pass()) {
    const seen = async () => {
      await meanwhile();
      return this.host.at(path).length;
    };
    await expect.poll(seen).toBe(count);
    return this.host.at(path);
  }

  /** A gauge of a node. */
  async gauge(node: TestEasel, name: string): Promise<number> {
    const text = await (await node.fetch('/metrics', { token: node.adminToken })).text();
    return Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(text)?.[1]);
  }
}
