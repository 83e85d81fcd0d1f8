/** Reads a resource below the URL of a connection of the type http. Credentials go to its host only: redirects are not followed. */
import { LIMITS } from '../../../../../protocol/core/limits.ts';
import type { EgressReply } from '../../../../egress/egress.ts';
import { EgressFailure } from '../../../../egress/failure.ts';
import type { SourceFormat } from './rows.ts';
import { type Credentials, type Reach, requireCredentials, SourceFailure, type Target, withoutSecrets } from './target.ts';

/** Throws EgressFailure, SourceFailure, and the reason of the signal. */
export async function testHttp(reach: Reach, target: Target): Promise<string> {
  const reply = await get(reach, target, String(target.config.url), LIMITS.connectionTestBytesMax).catch((error) => {
    if (error instanceof EgressFailure && error.reason === 'too_large') return null;
    throw error;
  });
  if (reply === null) return 'The host answered at length.';
  const detail = `The host answered with the status ${reply.status}.`;
  if (reply.status === 401 || reply.status === 403) throw new Answered('The host does not accept the credentials.', detail);
  const redirect = redirectOf(reply, target);
  if (redirect !== undefined) throw new Answered(redirect, detail);
  if (reply.status >= 500) throw new Answered('The host is failing.', detail);
  return detail;
}

/** The host has answered, and that is what is wrong. */
export class Answered extends SourceFailure {
  readonly detail: string;

  constructor(message: string, detail: string) {
    super(message, { isFinal: false });
    this.detail = detail;
  }
}

export interface FetchWanted {
  /** Below the URL of the connection, with its query. */
  readonly path: string;
  /** Further parameters of the query. */
  readonly params: Readonly<Record<string, string>>;
}

export interface Fetched {
  readonly bytes: Buffer;
  readonly format: SourceFormat;
}

/** Throws as `testHttp` does. */
export async function fetchHttp(reach: Reach, target: Target, { path, params }: FetchWanted): Promise<Fetched> {
  const reply = await get(reach, target, urlBelow(String(target.config.url), path, params), LIMITS.connectionFetchBytesMax);
  const { status, headers, body } = reply;
  if (status === 401 || status === 403) throw new SourceFailure(`The host does not accept the credentials: it answered ${status}.`);
  const redirect = redirectOf(reply, target);
  if (redirect !== undefined) throw new SourceFailure(redirect);
  if (status !== 200) throw new SourceFailure(`The host answered ${status}.`, { isFinal: status < 500 && status !== 429 });
  return { bytes: body, format: formatOf(headers['content-type'] ?? '') };
}

function get({ egress, share, signal }: Reach, target: Target, url: string, bytesMax: number): Promise<EgressReply> {
  return egress.fetch({
    method: 'GET',
    url,
    headers: { accept: '*/*', ...headersOf(target, requireCredentials(target)) },
    bytesMax,
    timeoutMs: LIMITS.connectionFetchMs,
    redirectsMax: 0,
    share,
    signal,
  });
}

/** Throws SourceFailure for a path that leads elsewhere. */
function urlBelow(base: string, path: string, params: FetchWanted['params']): string {
  const root = new URL(base);
  const folder = root.pathname.replace(/\/$/, '');
  const [place = '', ...search] = path.split('?');
  const url = new URL(root);
  if (place.replaceAll('/', '') !== '') url.pathname = `${folder}/${place.replace(/^\/+/, '')}`;
  url.search = search.join('?');
  for (const [name, value] of Object.entries(params)) url.searchParams.set(name, value);
  if (url.pathname === root.pathname || url.pathname.startsWith(`${folder}/`)) return url.href;
  throw new SourceFailure('The path leads out of the URL of the connection.');
}

const REDIRECTS = new Set([301, 302, 303, 307, 308]);
const SHOWN_CHARS_MAX = 300;

/** What to say of an answer that leads elsewhere, without the query, in which there may be a secret; undefined for any other. */
function redirectOf({ status, headers, url }: EgressReply, { credentials }: Target): string | undefined {
  if (!REDIRECTS.has(status)) return undefined;
  const { location = '' } = headers;
  if (location === '' || !URL.canParse(location, url)) return `The host answered ${status}, and redirects are not followed.`;
  const { protocol, host, pathname } = new URL(location, url);
  const place = withoutSecrets(`${protocol}//${host}${pathname}`, credentials).slice(0, SHOWN_CHARS_MAX);
  return `The host redirects to ${place} (${status}), and redirects are not followed: use the URL to which it leads.`;
}

function formatOf(contentType: string): SourceFormat {
  if (/^text\/csv\b/i.test(contentType)) return 'csv';
  return /ndjson|jsonl|json-?lines/i.test(contentType) ? 'ndjson' : 'json';
}

function headersOf({ authType }: Target, credentials: Credentials): Readonly<Record<string, string>> {
  const { token = '', username = '', password = '', header = '', value = '' } = credentials;
  switch (authType) {
    case 'bearer':
      return { authorization: `Bearer ${token}` };
    case 'basic':
      return { authorization: `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}` };
    case 'header':
      return { [header.toLowerCase()]: value };
    case 'none':
    case 'password':
    case 'access_key':
      return {};
    default:
      return authType satisfies never;
  }
}
