/** Google Drive and Microsoft Graph, as far as imports call them: their published REST shapes over one tree of files. */
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** An access that is accepted from the start. */
export const FAKE_TOKENS = { access: 'fake-access', accessEndsAtMs: 4_000_000_000_000, refresh: 'fake-refresh' } as const;

const GOOGLE_FOLDER = 'application/vnd.google-apps.folder';

interface Node {
  readonly id: string;
  name: string;
  readonly parents: string[];
  /** Undefined for a folder. */
  content?: Buffer;
  mime: string;
  isTrashed: boolean;
}

export interface Fault {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

export class FakeDrives {
  readonly #server = createServer((request, response) => void this.#answer(request, response));
  readonly #nodes = new Map<string, Node>();
  readonly #codes = new Map<string, { readonly challenge: string; readonly redirectUri: string }>();
  readonly #access = new Set<string>([FAKE_TOKENS.access]);
  readonly #refresh = new Set<string>([FAKE_TOKENS.refresh]);
  #changes = 0;
  /** Of one page of a list. */
  pageFiles = 100;
  /** Consulted for each call of the interfaces; undefined lets it through. */
  fault: (path: string) => Fault | undefined = () => undefined;
  /** Paths that were called, with their queries. */
  readonly calls: string[] = [];
  /** Resolves calls of `next`. */
  #awaited: { readonly part: string; readonly resolve: () => void }[] = [];

  static async start(): Promise<FakeDrives> {
    const drives = new FakeDrives();
    drives.#server.listen(0, '127.0.0.1').unref();
    await once(drives.#server, 'listening');
    drives.#nodes.set('root', { id: 'root', name: 'root', parents: [], mime: GOOGLE_FOLDER, isTrashed: false });
    return drives;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  get settings(): Record<string, string> {
    const of = (name: string) => ({
      [`IMPORT_${name}_CLIENT_ID`]: 'client',
      [`IMPORT_${name}_CLIENT_SECRET`]: 'client secret',
      [`IMPORT_${name}_API_URL`]: this.url,
      [`IMPORT_${name}_AUTHORIZE_URL`]: `${this.url}/authorize`,
      [`IMPORT_${name}_TOKEN_URL`]: `${this.url}/token`,
    });
    return { ...of('CLOUD_DRIVE'), ...of('OFFICE_SUITE') };
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  folder(id: string, parent = 'root', name = id): void {
    this.#nodes.set(id, { id, name, parents: [parent], mime: GOOGLE_FOLDER, isTrashed: false });
    this.#changes += 1;
  }

  file(id: string, parent: string, name: string, content: string | Buffer = name, mime = ''): void {
    this.#nodes.set(id, { id, name, parents: [parent], content: Buffer.from(content), mime, isTrashed: false });
    this.#changes += 1;
  }

  /** Puts something into one more folder. */
  alsoIn(id: string, parent: string): void {
    this.#nodes.get(id)?.parents.push(parent);
    this.#changes += 1;
  }

  /** Everything but the root. */
  clear(): void {
    for (const id of [...this.#nodes.keys()]) if (id !== 'root') this.#nodes.delete(id);
    this.#changes += 1;
  }

  remove(id: string): void {
    this.#nodes.delete(id);
    this.#changes += 1;
  }

  /** Withdraws every access. */
  revoke(): void {
    this.#access.clear();
    this.#refresh.clear();
  }

  /** Ends the access tokens; they can be renewed. */
  expireAccess(): void {
    this.#access.clear();
  }

  allow(): void {
    this.#access.add(FAKE_TOKENS.access);
    this.#refresh.add(FAKE_TOKENS.refresh);
  }

  /** Settles with the next call whose path has this part. */
  next(part: string): Promise<void> {
    return new Promise((resolve) => this.#awaited.push({ part, resolve }));
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', this.url);
    const path = url.pathname;
    this.calls.push(path + url.search);
    const awaited = this.#awaited.filter(({ part }) => (path + url.search).includes(part));
    this.#awaited = this.#awaited.filter((one) => !awaited.includes(one));
    for (const { resolve } of awaited) resolve();
    if (path === '/authorize') return void this.#authorize(url, response);
    if (path === '/token') return void this.#token(await textOf(request), response);
    if (path.startsWith('/download/')) return void this.#content(path.slice('/download/'.length), response);
    const fault = this.fault(path + url.search);
    if (fault !== undefined) return void response.writeHead(fault.status, fault.headers).end(fault.body ?? '{}');
    if (!this.#access.has(request.headers.authorization?.slice('Bearer '.length) ?? '')) return void json(response, { error: {} }, 401);
    if (path.startsWith('/drive/v3')) return void this.#google(path.slice('/drive/v3'.length), url.searchParams, response);
    if (path.startsWith('/v1.0')) return void this.#graph(path.slice('/v1.0'.length), url.searchParams, response);
    json(response, {}, 404);
  }

  #authorize({ searchParams }: URL, response: ServerResponse): void {
    const code = randomBytes(8).toString('hex');
    const redirectUri = searchParams.get('redirect_uri') ?? '';
    this.#codes.set(code, { challenge: searchParams.get('code_challenge') ?? '', redirectUri });
    const back = new URLSearchParams({ code, state: searchParams.get('state') ?? '', scope: 'drive' });
    response.writeHead(302, { location: `${redirectUri}?${back}` }).end();
  }

  #token(body: string, response: ServerResponse): void {
    const form = new URLSearchParams(body);
    const isClient = form.get('client_id') === 'client' && form.get('client_secret') === 'client secret';
    const code = this.#codes.get(form.get('code') ?? '');
    const challenge = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url');
    const isCode = code !== undefined && code.challenge === challenge && code.redirectUri === form.get('redirect_uri');
    const isRefresh = form.get('grant_type') === 'refresh_token' && this.#refresh.has(form.get('refresh_token') ?? '');
    if (!isClient || (!isCode && !isRefresh)) return void json(response, { error: 'invalid_grant' }, 400);
    const [access, refresh] = [randomBytes(8).toString('hex'), randomBytes(8).toString('hex')];
    this.#access.add(access);
    this.#refresh.add(refresh);
    json(response, { access_token: access, token_type: 'Bearer', expires_in: 3600, refresh_token: refresh });
  }

  #childrenOf(id: string): Node[] {
    return [...this.#nodes.values()].filter(({ parents, isTrashed }) => parents.includes(id) && !isTrashed);
  }

  #content(id: string, response: ServerResponse): void {
    const content = this.#nodes.get(decodeURIComponent(id))?.content;
    if (content === undefined) return void json(response, {}, 404);
    response.writeHead(200, { 'content-type': 'application/octet-stream' }).end(content);
  }

  #google(path: string, query: URLSearchParams, response: ServerResponse): void {
    if (path === '/about') return void json(response, { user: { emailAddress: 'ada@drive.example' } });
    if (path === '/drives') return void json(response, { drives: [{ id: 'shared', name: 'Shared' }] });
    if (path === '/changes/startPageToken') return void json(response, { startPageToken: String(this.#changes) });
    if (path === '/changes') {
      const since = Number(query.get('pageToken'));
      if (!(since <= this.#changes)) return void json(response, { error: { errors: [{ reason: 'invalid' }] } }, 400);
      return void json(response, { changes: since < this.#changes ? [{ fileId: 'x' }] : [], newStartPageToken: String(this.#changes) });
    }
    if (path === '/files') return void this.#googleList(query, response);
    const [, , id = '', verb] = path.split('/');
    const node = this.#nodes.get(decodeURIComponent(id));
    if (node === undefined) return void json(response, {}, 404);
    if (verb === 'export' || query.get('alt') === 'media') return void this.#content(id, response);
    json(response, googleFile(node));
  }

  #googleList(query: URLSearchParams, response: ServerResponse): void {
    const q = query.get('q') ?? '';
    const parent = /^'(.*?)' in parents/.exec(q)?.[1] ?? '';
    const all = this.#childrenOf(parent).filter(({ mime }) => !q.includes('mimeType =') || mime === GOOGLE_FOLDER);
    const from = Number(query.get('pageToken') ?? 0);
    const until = from + this.pageFiles;
    const files = all.slice(from, until).map(googleFile);
    json(response, { files, ...(until < all.length && { nextPageToken: String(until) }) });
  }

  #graph(path: string, query: URLSearchParams, response: ServerResponse): void {
    if (path === '/me') return void json(response, { mail: null, userPrincipalName: 'ada@office.example' });
    if (path === '/me/followedSites') return void json(response, { value: [{ id: 'site-1', displayName: 'Sales' }] });
    if (path === '/sites') return void json(response, { value: [{ id: 'site-2', displayName: `Found ${query.get('search')}` }] });
    if (path.startsWith('/me/memberOf')) return void json(response, { error: {} }, 403);
    if (/^\/sites\/[^/]+\/drives$/.test(path)) return void json(response, { value: [{ id: 'drive-1', name: 'Documents' }] });
    const [, id = 'root', verb] = /^\/(?:me\/drive|drives\/[^/]+)(?:\/root|\/items\/([^/]+))(?:\/(\w+))?$/.exec(path) ?? [];
    const node = this.#nodes.get(decodeURIComponent(id));
    if (node === undefined) return void json(response, {}, 404);
    switch (verb) {
      case 'children': {
        const all = this.#childrenOf(node.id);
        const from = Number(query.get('$skiptoken') ?? 0);
        const until = from + this.pageFiles;
        const next = `${this.url}/v1.0${path}?$skiptoken=${until}`;
        return void json(response, {
          value: all.slice(from, until).map(graphItem),
          ...(until < all.length && { '@odata.nextLink': next }),
        });
      }
      case 'delta': {
        const token = query.get('token') ?? '';
        if (token === 'gone') return void json(response, { error: { code: 'resyncRequired' } }, 410);
        const value = token !== 'latest' && Number(token) < this.#changes ? [graphItem(node)] : [];
        return void json(response, { value, '@odata.deltaLink': `${this.url}/v1.0${path}?token=${this.#changes}` });
      }
      case 'content':
        return void response.writeHead(302, { location: `${this.url}/download/${encodeURIComponent(node.id)}` }).end();
      default:
        return void json(response, graphItem(node));
    }
  }
}

function googleFile({ id, name, mime, content }: Node) {
  const isOwnKind = mime.startsWith('application/vnd.google-apps.');
  return {
    ...{ id, name, mimeType: mime || 'application/octet-stream', modifiedTime: '2026-01-01T00:00:00Z' },
    ...(content !== undefined &&
      !isOwnKind && { md5Checksum: createHash('md5').update(content).digest('hex'), size: String(content.length) }),
  };
}

function graphItem({ id, name, mime, content }: Node) {
  const parts =
    content === undefined
      ? { folder: {} }
      : { file: { mimeType: mime }, size: content.length, cTag: `"c:${createHash('md5').update(content).digest('hex')}"` };
  return { id, name, lastModifiedDateTime: '2026-01-01T00:00:00Z', ...parts };
}

function json(response: ServerResponse, body: unknown, status = 200): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

async function textOf(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of request) text += chunk;
  return text;
}
