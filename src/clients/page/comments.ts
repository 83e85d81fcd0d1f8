/** `easel.comments` */
import type * as api from './api.ts';
import type { CallOptions, Stop } from './api-outside.ts';
import type { ArtifactChannel } from './channel.ts';
import { EaselError, isCode } from './errors.ts';
import { deleted } from './json.ts';
import { tell } from './listeners.ts';
import { type Request, type Surroundings, segment, type Transport } from './transport.ts';
import type { Comment, CommentList, CommentThread, GuestToken } from './wire.ts';

export interface CommentsDeps {
  readonly transport: Transport;
  readonly channel: ArtifactChannel;
  readonly around: Surroundings;
  readonly guest: Guest;
  readonly failed: (error: EaselError) => void;
}

const PAGE_MAX = 100;
const AGAIN_MS = 30_000;

/** A guest: a visitor who has verified an e-mail address in this browser. */
export class Guest {
  token: string | undefined;
  readonly #keep: (token: string | undefined) => void;

  constructor(token: string | undefined, keep: (token: string | undefined) => void) {
    this.token = token;
    this.#keep = keep;
  }

  become(token: string | undefined): void {
    this.token = token;
    this.#keep(token);
  }

  /** True if the error means that the guest token is no longer valid; it is then removed. */
  isOver(error: unknown): boolean {
    if (this.token === undefined || !isCode(error, 'UNAUTHORIZED')) return false;
    this.become(undefined);
    return true;
  }
}

export interface Keeper {
  /** Reads from the browser's storage; null if there is nothing. */
  readonly kept: (name: string) => string | null;
  /** Writes to the browser's storage; undefined removes the entry. */
  readonly keep: (name: string, text: string | undefined) => void;
  /** Somebody is probably signed in on this page. */
  readonly isSignedIn?: () => boolean;
  /** Nobody is. */
  readonly forgetSignIn?: () => void;
}

/** The artifact's guest from the browser's storage. Who is signed in comments as themselves, because a token would count before their cookie. */
export function guestOf(artifactId: string, { kept, keep, isSignedIn }: Keeper): Guest {
  const name = `easel-guest-${artifactId}`;
  const token = isSignedIn?.() === true ? undefined : kept(name);
  return new Guest(token ?? undefined, (changed) => keep(name, changed));
}

export function commentsOf(deps: CommentsDeps): api.Comments {
  const { transport, channel, guest } = deps;
  const ofOne = (id: string) => `/comments/${segment(id)}`;
  const full = <T extends object>(comment: string | T) => (typeof comment === 'string' ? { content: comment } : comment);
  const call = async <T>(method: Request['method'], path: string, more: Partial<Request> = {}): Promise<T> => {
    const request = { method, path, ...more };
    try {
      return await transport.call<T>({ ...request, token: guest.token });
    } catch (error) {
      // The call may succeed without a guest token.
      if (guest.isOver(error)) return transport.call<T>(request);
      throw error;
    }
  };
  const become = (token: string | undefined) => {
    guest.become(token);
    channel.reopen();
  };

  async function list(query: api.CommentQuery = {}, { signal }: CallOptions = {}): Promise<CommentList> {
    return call('GET', '/comments', { query: { ...query }, signal });
  }

  async function all(contextId: string | undefined): Promise<Comment[]> {
    const found: Comment[] = [];
    for (let cursor: string | undefined; ; ) {
      const page = await list({ contextId, limit: PAGE_MAX, cursor });
      found.push(...(page.comments as Comment[]));
      if (!page.nextCursor) return found;
      cursor = page.nextCursor;
    }
  }

  return {
    list,
    thread: (id, query = {}, { signal } = {}) => call<CommentThread>('GET', `${ofOne(id)}/thread`, { query: { ...query }, signal }),
    create: (comment, { signal } = {}) => call('POST', '/comments', { body: full(comment), signal }),
    reply: (id, comment, { signal } = {}) => call('POST', '/comments', { body: { ...full(comment), parentId: id }, signal }),
    edit: (id, change, { signal } = {}) => call('PATCH', ofOne(id), { body: full(change), signal }),
    delete: (id, { signal } = {}) =>
      deleted(
        { call: ({ method, path, ...more }) => call(method, path, more) },
        { method: 'DELETE', path: ofOne(id), signal },
        'COMMENT_NOT_FOUND',
      ),
    resolve: (id, resolved = true, { signal } = {}) => call('PATCH', `${ofOne(id)}/resolve`, { body: { resolved }, signal }),
    react: (id, emoji, { signal } = {}) => call('POST', `${ofOne(id)}/reactions`, { body: { emoji }, signal }),
    watch: (listener, { contextId } = {}) => new CommentWatch(deps, () => all(contextId), contextId, listener).stop,
    config: ({ signal } = {}) => call('GET', '/comments/_config', { signal }),
    people: ({ signal } = {}) => call('GET', '/comments/_people', { signal }),
    guest: {
      start: async (body, { signal } = {}) => void (await call('POST', '/comments/_guest/start', { body, signal })),
      async verify(body, { signal } = {}) {
        const proved = await call<GuestToken>('POST', '/comments/_guest/verify', { body, signal });
        become(proved.guestToken);
        return proved;
      },
      leave: () => become(undefined),
    },
  };
}

/** Subscribes first and then reads all comments, so that no change between the two is missed. */
class CommentWatch {
  readonly stop: Stop;
  readonly #deps: CommentsDeps;
  readonly #load: () => Promise<readonly Comment[]>;
  readonly #contextId: string | undefined;
  readonly #listener: (change: api.CommentChange) => void;
  /** The `seq` of each comment that the listener has received. */
  #known: Map<string, number> | undefined;
  #pending: api.ChannelEvent[] = [];
  #isReading = false;
  #isStopped = false;

  constructor(
    deps: CommentsDeps,
    load: () => Promise<readonly Comment[]>,
    contextId: string | undefined,
    listener: (change: api.CommentChange) => void,
  ) {
    this.#deps = deps;
    this.#load = load;
    this.#contextId = contextId;
    this.#listener = listener;
    const leave = deps.channel.subscribe('comments', (event) => this.#happened(event));
    this.stop = () => {
      this.#isStopped = true;
      leave();
    };
  }

  #happened(event: api.ChannelEvent): void {
    if (event.type === 'refused') tell(this.#listener, { type: 'refused', code: event.code ?? '' });
    else if (event.type === 'reset' || (event.type === 'subscribed' && this.#known === undefined)) void this.#read();
    else if (event.type === 'event' && event.seq !== undefined) {
      this.#pending.push(event);
      this.#tellPending();
    }
  }

  async #read(): Promise<void> {
    this.#known = undefined;
    // The read contains all events received so far. Later ones are queued, and skipped by `seq` if the read has them too.
    this.#pending = [];
    if (this.#isReading) return;
    this.#isReading = true;
    try {
      const comments = await this.#load();
      if (this.#isStopped) return;
      this.#known = new Map(comments.map(({ id, seq }) => [id, seq]));
      tell(this.#listener, { type: 'comments', comments });
      this.#tellPending();
    } catch (error) {
      if (error instanceof EaselError) this.#deps.failed(error);
      void this.#readLater();
    } finally {
      this.#isReading = false;
    }
  }

  async #readLater(): Promise<void> {
    await this.#deps.around.wait(AGAIN_MS);
    if (!this.#isStopped && this.#known === undefined) await this.#read();
  }

  #tellPending(): void {
    if (this.#known === undefined) return;
    for (const event of this.#pending.splice(0)) this.#take(this.#known, event);
  }

  #take(known: Map<string, number>, { kind = '', id = '', seq = 0, data }: api.ChannelEvent): void {
    if (seq <= (known.get(id) ?? 0)) return;
    if (kind === 'comment:deleted') {
      if (known.delete(id)) tell(this.#listener, { type: 'delete', id });
      return;
    }
    const comment = data as Comment | undefined;
    if (comment === undefined) void this.#read();
    else if (this.#contextId === undefined || comment.contextId === this.#contextId) {
      known.set(id, seq);
      tell(this.#listener, { type: 'put', kind: kind.slice('comment:'.length) as 'added', comment });
    }
  }
}
