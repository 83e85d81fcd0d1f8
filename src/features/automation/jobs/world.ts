/**
 * What a run reaches. Its calls to the artifact's data go through the API of this node like those of any other caller, with the run's own token:
 * access, limits, validation and the way to the node that owns the artifact are the same.
 */
import { Agent, request } from 'node:http';
import type { ArtifactId } from '../../../../protocol/core/ids.ts';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import type { Egress } from '../../../egress/egress.ts';
import {
  bodyTextOf,
  type ScriptWorld,
  TextReply,
  type WorldCall,
  type WorldFetch,
  type WorldFetched,
  type WorldReply,
} from '../scripts/world.ts';
import type { RunChange } from './runs.ts';
import type { TableUse } from './table-use-rows.ts';

const ANSWER_BYTES_MAX = 8 * 1024 * 1024;
const FETCH_MS = 10_000;
const REDIRECTS_MAX = 5;
const CHANGES_MAX = 100;
const TABLE_USES_MAX = 100;

/** The way into the API of this process. */
export class OwnApi {
  readonly #origin: () => { readonly host: string; readonly port: number };
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 64 });

  constructor(origin: () => { readonly host: string; readonly port: number }) {
    this.#origin = origin;
  }

  call(path: string, token: string, call: Omit<WorldCall, 'path'>, signal: AbortSignal): Promise<WorldReply> {
    const { method, headers = {} } = call;
    const text = bodyTextOf(call);
    const { host, port } = this.#origin();
    return new Promise((resolve, reject) => {
      const sent = request({
        host,
        port,
        path,
        method,
        agent: this.#agent,
        signal,
        headers: {
          'content-type': 'application/json',
          ...headers,
          authorization: `Bearer ${token}`,
          ...(text !== undefined && { 'content-length': Buffer.byteLength(text) }),
        },
      });
      sent.on('error', reject);
      sent.on('response', (answer) => {
        const chunks: Buffer[] = [];
        let bytes = 0;
        answer.on('data', (chunk: Buffer) => {
          bytes += chunk.length;
          if (bytes > ANSWER_BYTES_MAX) answer.destroy(new Error('An answer is larger than a job may read: ask for fewer rows at once.'));
          else chunks.push(chunk);
        });
        answer.on('error', reject);
        answer.on('end', () => resolve(replyOf(answer.statusCode ?? 500, answer.headers['content-type'], Buffer.concat(chunks))));
      });
      sent.end(text);
    });
  }

  close(): void {
    this.#agent.destroy();
  }
}

function replyOf(status: number, type: string | undefined, bytes: Buffer): WorldReply {
  return type?.startsWith('application/json') ? new TextReply(status, bytes.toString('utf8')) : { status, body: undefined };
}

export interface LiveWorldDeps {
  readonly api: OwnApi;
  readonly egress: Egress;
  readonly artifactId: ArtifactId;
  readonly token: string;
  readonly signal: AbortSignal;
}

export class LiveWorld implements ScriptWorld {
  readonly #deps: LiveWorldDeps;
  readonly #changes = new Map<string, RunChange>();
  readonly #tableUses = new Map<string, TableUse>();

  constructor(deps: LiveWorldDeps) {
    this.#deps = deps;
  }

  /** What has been written so far. */
  get changes(): readonly RunChange[] {
    return [...this.#changes.values()];
  }

  /** The tables that calls have read and written so far. */
  get tableUses(): readonly TableUse[] {
    return [...this.#tableUses.values()];
  }

  async call({ path, ...call }: WorldCall): Promise<WorldReply> {
    const { api, artifactId, token, signal } = this.#deps;
    const reply = await api.call(`/v1/data/${artifactId}${path}`, token, call, signal);
    if (reply.status < 300) this.#note(call.method, path, reply.body);
    return reply;
  }

  async fetch({ method, url, headers, body }: WorldFetch): Promise<WorldFetched> {
    const { egress, artifactId, signal } = this.#deps;
    const reply = await egress.fetch({
      method: method as 'GET',
      url,
      headers,
      ...(body !== undefined && { body: Buffer.from(body) }),
      bytesMax: LIMITS.runAnswerBytesMax,
      timeoutMs: FETCH_MS,
      redirectsMax: method === 'GET' || method === 'HEAD' ? REDIRECTS_MAX : 0,
      share: artifactId,
      signal,
    });
    return { status: reply.status, headers: reply.headers, body: reply.body.toString('utf8'), url: reply.url };
  }

  note(change: RunChange): void {
    const key = `${change.channel} ${change.op} ${change.name}`;
    const before = this.#changes.get(key);
    if (before === undefined && this.#changes.size >= CHANGES_MAX) return;
    this.#changes.set(key, { ...change, count: (before?.count ?? 0) + change.count });
  }

  #note(method: string, path: string, body: unknown): void {
    const [, channel = '', name = '', under] = (path.split('?', 1)[0] ?? '').split('/');
    const op = READS.has(under ?? '') ? undefined : OPERATIONS[method];
    if (channel === 'tables') this.#noteTable({ name: decodeURIComponent(name), use: op === undefined ? 'read' : 'write' });
    if (op === undefined) return;
    const isInsert = channel === 'tables' && method === 'POST';
    const { count = 1 } = ((body as { data?: { count?: number } } | undefined)?.data ?? {}) as { count?: number };
    this.note({ channel, name: decodeURIComponent(name), op: isInsert ? 'insert' : op, count: isInsert ? count : 1 });
  }

  #noteTable(used: TableUse): void {
    if (this.#tableUses.size < TABLE_USES_MAX) this.#tableUses.set(`${used.use} ${used.name}`, used);
  }
}

const OPERATIONS: Readonly<Record<string, string>> = { PUT: 'put', PATCH: 'patch', POST: 'post', DELETE: 'delete' };
/** What is posted below a table and changes nothing. */
const READS: ReadonlySet<string> = new Set(['query', 'count', 'distinct', 'aggregate']);
