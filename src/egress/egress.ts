/**
 * The one way to the outside for what users name: pages, jobs, connections. A name is resolved once, every address of it must be one that may be
 * reached, and the connection goes to exactly that address; each redirect is decided anew. Sizes, times and how many at once are bounded.
 */
import { readFileSync } from 'node:fs';
import { request as httpRequest, type IncomingMessage, type RequestOptions } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { Socket } from 'node:net';
import { createSecureContext, rootCertificates, type SecureContext } from 'node:tls';
import type { Clock } from '../../actors/runtime/ports.ts';
import { CONNECTION_HEADERS } from '../../protocol/core/connection-headers.ts';
import { LIMITS } from '../../protocol/core/limits.ts';
import { systemClock } from '../platform/clock.ts';
import { ConfigError, type Settings } from '../platform/config.ts';
import { mayReach, plainAddress, readNetworks } from '../platform/networks.ts';
import { Shares } from '../platform/shares.ts';
import { ACCEPTED_CODINGS, readBody } from './body.ts';
import { type DialRequest, dialAddress } from './dial.ts';
import { blockedHost, blockedPort, EgressFailure, failureOf } from './failure.ts';
import { type ResolveName, systemResolver } from './resolver.ts';
import { EgressSlots } from './slots.ts';

export interface EgressRequest {
  readonly method: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly url: string;
  /** Names in lowercase. Those of the connection are our own: host, connection, accept-encoding, content-length and the like are refused. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
  /** Of the decoded answer. */
  readonly bytesMax: number;
  /** For everything: waiting for a slot, names, connections, redirects, the whole body. */
  readonly timeoutMs: number;
  /** Followed for GET and HEAD. Default: none, the redirect is the answer. */
  readonly redirectsMax?: number;
  /** Whose share of connections and memory it counts to: the id of an artifact or a workspace. */
  readonly share: string;
  readonly httpsOnly?: boolean;
  /** Throws where the caller does not want this address; asked for the first one and each redirect. */
  readonly require?: (url: URL) => void;
  /** Ends the call; `fetch` then throws its reason. */
  readonly signal?: AbortSignal;
}

export interface EgressReply {
  readonly status: number;
  /** Without those of the connection, cookies, and the coding, which is undone. Repeated ones are joined by commas. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  /** Where the answer came from, after redirects. */
  readonly url: string;
}

export interface EgressDeps {
  /** Real time, for deadlines. */
  readonly clock: Pick<Clock, 'after'>;
  /** Ports that may be called; null for any. */
  readonly ports: ReadonlySet<number> | null;
  /** Networks that may be reached although they are not public. As in EGRESS_PRIVATE_NETWORKS; empty for none. */
  readonly privateNetworks: string;
  /** Certificates (PEM) that are trusted beside the public ones. */
  readonly trusted?: string;
  /** Default: the system's servers. */
  readonly resolve?: ResolveName;
}

type EgressSettings = Pick<Settings, 'EGRESS_PORTS' | 'EGRESS_PRIVATE_NETWORKS' | 'EGRESS_CA_FILE'>;

const HEADER_BYTES_MAX = 32 * 1024;
/** How many addresses of a name are tried where one does not answer. */
const ADDRESSES_TRIED_MAX = 3;
const CONNECT_MS = 4000;
/** Answers of 1xx before the real one. */
const HINTS_MAX = 8;
const REDIRECTS = new Set([301, 302, 303, 307, 308]);
/** What another origin than the first one gets to see of the caller's headers. */
const CARRIED_ELSEWHERE = new Set(['accept', 'accept-language', 'user-agent']);
const NOT_PASSED_ON = new Set([
  ...CONNECTION_HEADERS,
  'content-encoding',
  'set-cookie',
  'set-cookie2',
  'alt-svc',
  'strict-transport-security',
]);

interface Hop {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
}

export class Egress {
  readonly #deps: EgressDeps;
  readonly #networks: NonNullable<ReturnType<typeof readNetworks>>;
  readonly #resolve: ResolveName;
  /** Undefined for the public ones. */
  readonly #trusted: SecureContext | undefined;
  readonly #slots = new EgressSlots({
    total: LIMITS.egressCallsMax,
    perShare: LIMITS.egressCallsPerShareMax,
    waitingPerShare: LIMITS.egressWaitingPerShareMax,
    waitingTotal: LIMITS.egressWaitingMax,
  });
  readonly #bytes = new Shares({
    total: LIMITS.egressBytesMax,
    artifact: LIMITS.egressBytesPerShareMax,
    network: Number.POSITIVE_INFINITY,
    caller: Number.POSITIVE_INFINITY,
  });

  constructor(deps: EgressDeps) {
    this.#deps = deps;
    this.#networks = readNetworks(deps.privateNetworks) ?? [];
    this.#resolve = deps.resolve ?? systemResolver();
    this.#trusted = deps.trusted === undefined ? undefined : createSecureContext({ ca: [...rootCertificates, deps.trusted] });
  }

  /** Calls under way. */
  get used(): number {
    return this.#slots.used;
  }

  /** Throws `EgressFailure`, what `require` throws, and the reason of `signal`. An answer of any status is an answer. */
  async fetch(request: EgressRequest): Promise<EgressReply> {
    request.signal?.throwIfAborted();
    const ended = new AbortController();
    const late = new EgressFailure('timeout', `There was no whole answer within ${request.timeoutMs} ms.`);
    const timer = this.#deps.clock.after(request.timeoutMs, () => ended.abort(late));
    const giveUp = () => ended.abort(request.signal?.reason);
    request.signal?.addEventListener('abort', giveUp, { once: true });
    try {
      const url = this.#allowedUrl(request.url, request);
      const giveBack = await this.#slots.take(request.share, ended.signal);
      try {
        const reply = await this.#follow({ url, headers: ownHeaders(request) }, request, ended.signal);
        // Node takes a body that ends with its connection as complete, also where it was the deadline that closed the connection.
        ended.signal.throwIfAborted();
        return reply;
      } finally {
        giveBack();
      }
    } catch (error) {
      // Whatever the interrupted call says, it was the deadline or the caller that ended it.
      if (ended.signal.aborted) throw ended.signal.reason;
      throw error;
    } finally {
      timer.cancel();
      request.signal?.removeEventListener('abort', giveUp);
    }
  }

  /** Certificates that are trusted beside the public ones; undefined where there are none. */
  get trusted(): SecureContext | undefined {
    return this.#trusted;
  }

  /**
   * A connection for another protocol than HTTP, under the same rules. It counts as a call until it closes, which the signal brings about.
   * Throws `EgressFailure` and the reason of the signal.
   */
  async dial({ host, port, usualPort, share, signal }: DialRequest): Promise<Socket> {
    signal.throwIfAborted();
    if (!URL.canParse(`http://${host}/`)) throw new EgressFailure('invalid', 'A host name or an address is needed.');
    if (this.#deps.ports !== null && port !== usualPort && !this.#deps.ports.has(port)) throw blockedPort(port);
    const giveBack = await this.#slots.take(share, signal);
    try {
      // As a URL has it: an address that is written in another way is that address here too.
      const addresses = await untilAborted(this.#addressesOf(new URL(`http://${host}/`)), signal);
      const socket = await firstOf(addresses, (address) => dialAddress(this.#deps.clock, address, port, signal), signal);
      const end = () => socket.destroy();
      signal.addEventListener('abort', end, { once: true });
      socket.once('close', () => {
        signal.removeEventListener('abort', end);
        giveBack();
      });
      return socket;
    } catch (error) {
      giveBack();
      throw error;
    }
  }

  async #follow(first: Hop, request: EgressRequest, signal: AbortSignal): Promise<EgressReply> {
    let hop = first;
    for (let redirects = 0; ; redirects += 1) {
      const response = await this.#open(hop, request, signal);
      try {
        const target = targetOf(response, request);
        if (target === undefined) return await this.#read(response, hop.url, request);
        if (redirects >= (request.redirectsMax ?? 0)) throw new EgressFailure('bad_answer', `There were more than ${redirects} redirects.`);
        hop = this.#next(hop, target, request);
      } finally {
        response.destroy();
      }
    }
  }

  #next({ url, headers }: Hop, target: string, request: EgressRequest): Hop {
    if (!URL.canParse(target, url)) throw new EgressFailure('bad_answer', 'The answer leads to an address that cannot be read.');
    const next = this.#allowedUrl(new URL(target, url).href, request);
    if (url.protocol === 'https:' && next.protocol !== 'https:') throw new EgressFailure('blocked', 'The answer leads from https to http.');
    if (next.origin === url.origin) return { url: next, headers };
    return { url: next, headers: Object.fromEntries(Object.entries(headers).filter(([name]) => CARRIED_ELSEWHERE.has(name))) };
  }

  #allowedUrl(text: string, { httpsOnly, require }: EgressRequest): URL {
    if (text.length > LIMITS.egressUrlCharsMax || !URL.canParse(text))
      throw new EgressFailure(
        'invalid',
        `A URL such as https://example.com/ is needed, of at most ${LIMITS.egressUrlCharsMax} characters.`,
      );
    const url = new URL(text);
    if (url.protocol !== 'https:' && (url.protocol !== 'http:' || httpsOnly === true))
      throw new EgressFailure('invalid', httpsOnly === true ? 'Only https URLs are called.' : 'Only http and https URLs are called.');
    if (url.username !== '' || url.password !== '') throw new EgressFailure('invalid', 'A URL may not hold a user or a password.');
    const port = portOf(url);
    if (this.#deps.ports !== null && !this.#deps.ports.has(port)) throw blockedPort(port);
    url.hash = '';
    require?.(url);
    return url;
  }

  /** Those of a name in the order in which they are tried. Throws blocked where one of them may not be reached: another may be handed out next time. */
  async #addressesOf({ hostname }: URL): Promise<readonly string[]> {
    const literal = plainAddress(hostname);
    const addresses = literal === undefined ? await this.#resolve(hostname.replace(/\.$/, '')) : [literal];
    if (!addresses.every((address) => mayReach(address, this.#networks))) throw blockedHost();
    return addresses.slice(0, ADDRESSES_TRIED_MAX);
  }

  async #open(hop: Hop, request: EgressRequest, signal: AbortSignal): Promise<IncomingMessage> {
    const addresses = await untilAborted(this.#addressesOf(hop.url), signal);
    return firstOf(addresses, (address) => this.#connect(address, hop, request, signal), signal);
  }

  #connect(address: string, { url, headers }: Hop, { method, body }: EgressRequest, signal: AbortSignal): Promise<IncomingMessage> {
    const options: RequestOptions & { servername?: string; secureContext?: SecureContext } = {
      method,
      host: address,
      port: portOf(url),
      path: url.pathname + url.search,
      headers: {
        ...headers,
        host: url.host,
        'accept-encoding': ACCEPTED_CODINGS,
        ...(body !== undefined && { 'content-length': String(body.length) }),
      },
      // One connection a call: none is left behind on which somebody else's call could go.
      agent: false,
      maxHeaderSize: HEADER_BYTES_MAX,
      signal,
      ...(this.#trusted !== undefined && { secureContext: this.#trusted }),
      ...(plainAddress(url.hostname) === undefined && { servername: url.hostname }),
    };
    const open = url.protocol === 'https:' ? httpsRequest : httpRequest;
    return new Promise((resolve, reject) => {
      let isConnected = false;
      let answer: IncomingMessage | undefined;
      const outgoing = open(options, (response) => {
        answer = response;
        resolve(response);
      });
      const timer = this.#deps.clock.after(CONNECT_MS, () => {
        if (!isConnected) outgoing.destroy(new EgressFailure('connect', 'The host does not answer.'));
      });
      outgoing.once('socket', (socket) => {
        const connected = () => {
          isConnected = true;
          timer.cancel();
        };
        socket.once(url.protocol === 'https:' ? 'secureConnect' : 'connect', connected);
      });
      outgoing.once('error', (error) => {
        reject(failureOf(error, isConnected));
        // Node would take a body that has no announced end as complete when its connection is reset.
        answer?.destroy(error);
      });
      outgoing.once('upgrade', (_, socket) => {
        socket.destroy();
        reject(new EgressFailure('bad_answer', 'The host wants to speak another protocol.'));
      });
      let hints = 0;
      outgoing.on('information', () => {
        hints += 1;
        if (hints > HINTS_MAX) outgoing.destroy(new EgressFailure('bad_answer', 'The host does not come to its answer.'));
      });
      outgoing.once('close', () => {
        timer.cancel();
        reject(new EgressFailure('bad_answer', 'The host ended the connection without an answer.'));
      });
      outgoing.end(body);
    });
  }

  async #read(response: IncomingMessage, url: URL, request: EgressRequest): Promise<EgressReply> {
    const holders = { artifact: request.share };
    let taken = 0;
    const take = (bytes: number) => {
      if (this.#bytes.take(bytes, holders) !== undefined)
        throw new EgressFailure('busy', 'Too much is being read from the outside at once.');
      taken += bytes;
    };
    try {
      const body = await readBody(response, { bytesMax: request.bytesMax, take });
      return { status: response.statusCode ?? 0, headers: passedOn(response), body, url: url.href };
    } finally {
      this.#bytes.give(taken, holders);
    }
  }
}

/** As the settings have it. */
export function egressOf(settings: EgressSettings): Egress {
  const { EGRESS_PORTS: ports, EGRESS_PRIVATE_NETWORKS: privateNetworks = '', EGRESS_CA_FILE: caFile } = settings;
  return new Egress({
    // Deadlines of calls that really go out.
    clock: systemClock,
    ports: ports === 'any' ? null : new Set(ports.split(',').map(Number)),
    privateNetworks,
    ...(caFile !== undefined && { trusted: readAuthorities(caFile) }),
  });
}

/** Throws ConfigError. */
function readAuthorities(file: string): string {
  try {
    const text = readFileSync(file, 'utf8');
    createSecureContext({ ca: text });
    return text;
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? ` (${error.code})` : '';
    throw new ConfigError(`EGRESS_CA_FILE: no certificates can be read from ${file}${code}.`, { cause: error });
  }
}

function portOf({ port, protocol }: URL): number {
  return port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port);
}

/** Throws invalid for headers that are not the caller's to set, or that Node would not send. */
function ownHeaders({ headers = {} }: EgressRequest): Readonly<Record<string, string>> {
  for (const [name, value] of Object.entries(headers)) {
    if (CONNECTION_HEADERS.has(name) || !/^[!#$%&'*+.^_`|~0-9a-z-]+$/.test(name) || !/^[\t\x20-\x7e\x80-\xff]*$/.test(value))
      throw new EgressFailure('invalid', `The header ${name.replace(/[^\w-]/g, '?').slice(0, 60)} may not be sent.`);
  }
  return { 'user-agent': 'Easel', ...headers };
}

/** Where an answer leads; undefined where it is the answer itself. */
function targetOf({ statusCode = 0, headers }: IncomingMessage, { method, redirectsMax = 0 }: EgressRequest): string | undefined {
  if (redirectsMax === 0 || !REDIRECTS.has(statusCode) || (method !== 'GET' && method !== 'HEAD')) return undefined;
  return headers.location;
}

function passedOn({ headersDistinct }: IncomingMessage): Readonly<Record<string, string>> {
  const passed: Record<string, string> = {};
  for (const [name, values] of Object.entries(headersDistinct))
    if (!NOT_PASSED_ON.has(name) && values !== undefined) passed[name] = values.join(', ');
  return passed;
}

/** The first address that takes the connection. Throws why the last one did not. */
async function firstOf<T>(addresses: readonly string[], open: (address: string) => Promise<T>, signal: AbortSignal): Promise<T> {
  let refused: unknown;
  for (const address of addresses) {
    try {
      return await open(address);
    } catch (error) {
      if (signal.aborted || !(error instanceof EgressFailure) || error.reason !== 'connect') throw error;
      refused = error;
    }
  }
  throw refused;
}

/** What is awaited goes on; it is bounded by itself. */
function untilAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason);
    signal.addEventListener('abort', abort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}
