/** A service with a page that has jobs, and a host that they call. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Job, Run } from '../../../../protocol/automation/jobs.ts';
import { startTestEasel, type TestEasel, type TestEaselOptions, type TestUser } from '../../../support/easel.ts';

const JSON_TYPE = { 'content-type': 'application/json' };

export interface Asked {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

export class JobStage {
  readonly easel: TestEasel;
  readonly owner: TestUser;
  readonly origin: string;
  readonly asked: Asked[] = [];
  answer: (response: ServerResponse, asked: Asked) => void = (response) => response.end('hello');
  artifactId = '';
  readonly #host;

  private constructor(easel: TestEasel, owner: TestUser, host: ReturnType<typeof createServer>) {
    this.easel = easel;
    this.owner = owner;
    this.#host = host;
    this.origin = `http://127.0.0.1:${(host.address() as AddressInfo).port}`;
    host.on('request', (request: IncomingMessage, response: ServerResponse) => void this.#take(request, response));
  }

  static async start(options: TestEaselOptions = {}): Promise<JobStage> {
    const easel = await startTestEasel(options);
    const host = createServer().listen(0, '127.0.0.1');
    await once(host, 'listening');
    return new JobStage(easel, await easel.newUser('pro'), host);
  }

  async close(): Promise<void> {
    await this.easel.close();
    this.#host.closeAllConnections();
    this.#host.close();
  }

  async #take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let body = '';
    for await (const chunk of request) body += chunk;
    const asked = { method: request.method ?? '', url: request.url ?? '', headers: request.headers, body };
    this.asked.push(asked);
    this.answer(response, asked);
  }

  async publish(): Promise<void> {
    this.asked.length = 0;
    this.answer = (response) => response.end('hello');
    const files = [{ path: 'index.html', content: '<h1>Page</h1>' }];
    const reply = await this.call('POST', '/v1/publish', { name: 'Page', visibility: 'public', files });
    this.artifactId = reply.body.artifact.id;
  }

  async call(method: string, path: string, body?: unknown, more: { token?: string; headers?: Record<string, string> } = {}) {
    const { token = this.owner.token, headers = {} } = more;
    const reply = await this.easel.fetch(path, {
      method,
      token,
      headers: { ...JSON_TYPE, ...headers },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await reply.text();
    // The body is whatever was asked for.
    return { status: reply.status, headers: reply.headers, body: text === '' ? null : JSON.parse(text) };
  }

  async create(job: Record<string, unknown>, token?: string): Promise<Job> {
    const wanted = {
      artifact_id: this.artifactId,
      title: 'A job',
      retry_config: { maxAttempts: 1, backoff: 'fixed', initialDelay: 1 },
      ...job,
    };
    const reply = await this.call('POST', '/v1/jobs', wanted, token === undefined ? {} : { token });
    if (reply.status !== 201) throw new Error(`${reply.status} ${JSON.stringify(reply.body)}`);
    return reply.body as Job;
  }

  async deleteJobs(): Promise<void> {
    for (const { id } of (await this.call('GET', '/v1/jobs')).body.jobs) await this.call('DELETE', `/v1/jobs/${id}`);
  }

  get(id: string): Promise<Job> {
    return this.call('GET', `/v1/jobs/${id}`).then(({ body }) => body as Job);
  }

  async logs(id: string): Promise<readonly Run[]> {
    return (await this.call('GET', `/v1/jobs/${id}/logs?limit=100`)).body.runs;
  }

  /** The entries whose outcome is known, newest first. */
  async ended(id: string): Promise<readonly Run[]> {
    return (await this.logs(id)).filter(({ status }) => status !== 'queued' && status !== 'running');
  }

  async run(id: string): Promise<Run> {
    const reply = await this.call('POST', `/v1/jobs/${id}/run`);
    if (reply.status !== 202) throw new Error(`${reply.status} ${JSON.stringify(reply.body)}`);
    return reply.body.run;
  }

  async value(key: string): Promise<unknown> {
    return (await this.call('GET', `/v1/data/${this.artifactId}/json/${key}`)).body.data?.value;
  }

  async putDataset(name: string, rows: readonly object[]): Promise<void> {
    const reply = await this.call('PUT', `/v1/data/${this.artifactId}/datasets/${name}`, rows);
    if (reply.status >= 300) throw new Error(`${reply.status} ${JSON.stringify(reply.body)}`);
  }

  put(key: string, value: unknown) {
    return this.call('PUT', `/v1/data/${this.artifactId}/json/${key}`, value);
  }
}

export function script(source: string, more: Record<string, unknown> = {}) {
  return { action: 'script', trigger_type: 'cron', schedule: '0 0 1 1 *', config: { source }, ...more };
}
