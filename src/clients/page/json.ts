/** `easel.json` */
import type * as api from './api.ts';
import type { CallOptions } from './api-outside.ts';
import { isCode } from './errors.ts';
import type { ChangeFeed, Known } from './feed.ts';
import { tell } from './listeners.ts';
import { type Request, segment, type Transport } from './transport.ts';
import type { ChangeEvent, JsonEntry, JsonList } from './wire.ts';

const PAGE_MAX = 100;

export function jsonKeys(transport: Pick<Transport, 'call'>, feed: Pick<ChangeFeed, 'add'>): api.JsonKeys {
  const pathOf = (key: string) => `/json/${segment(key)}`;

  async function entry<T>(key: string, options: CallOptions & { path?: string | undefined } = {}) {
    const { signal, path } = options;
    try {
      return await transport.call<JsonEntry & { value: T }>({ method: 'GET', path: pathOf(key), query: { path }, signal });
    } catch (error) {
      if (isCode(error, 'KEY_NOT_FOUND')) return undefined;
      throw error;
    }
  }

  async function list(options: CallOptions & api.JsonListOptions = {}) {
    const { signal, prefix, limit, cursor, values } = options;
    return transport.call<JsonList>({ method: 'GET', path: '/json', query: { prefix, limit, cursor, values }, signal });
  }

  async function patch<T>(key: string, body: unknown, mediaType: string | undefined, options: api.JsonWriteOptions = {}): Promise<T> {
    const answer = await transport.call<{ value: T }>({ ...write('PATCH', key, body, options), mediaType });
    return answer.value;
  }

  function write(method: 'PUT' | 'PATCH', key: string, body: unknown, options: api.JsonWriteOptions): Request {
    const { ttlS: ttl, ifMatch, ifAbsent, signal } = options;
    return { method, path: pathOf(key), query: { ttl }, body, ifMatch, ifAbsent, signal };
  }

  async function entriesOf(name: string): Promise<JsonEntry[]> {
    if (!name.endsWith('*')) {
      // Reads by prefix, where the key itself comes first: a missing key would otherwise cause a 404, which browsers log as an error.
      const { entries = [] } = await list({ prefix: name, limit: 1, values: true });
      return entries.filter(({ key }) => key === name);
    }
    const found: JsonEntry[] = [];
    for (let cursor: string | undefined; ; ) {
      const page = await list({ prefix: name.slice(0, -1), limit: PAGE_MAX, values: true, cursor });
      found.push(...(page.entries ?? []));
      if (!page.nextCursor) return found;
      cursor = page.nextCursor;
    }
  }

  return {
    get: async (key, options) => (await entry<never>(key, options))?.value,
    entry,
    set: (key, value, options = {}) => transport.call(write('PUT', key, value, options)),
    update: (key, changes, options) => patch(key, changes, 'application/merge-patch+json', options),
    increment: (key, by = 1, options = {}) => patch(key, { op: 'increment', path: options.path, by }, undefined, options),
    append: (key, value, options = {}) => patch(key, { op: 'append', path: options.path, value }, undefined, options),
    delete: (key, { ifMatch, signal } = {}) =>
      deleted(transport, { method: 'DELETE', path: pathOf(key), ifMatch, signal }, 'KEY_NOT_FOUND'),
    list,
    watch(name, listener) {
      const isPrefix = name.endsWith('*');
      const prefix = name.slice(0, -1);
      /** Keys that the listener has received and that are not deleted since. */
      let present = new Set<string>();
      const say = (key: string, value: unknown, change: { deleted: boolean; updatedAt?: string }) =>
        tell(listener as (value: unknown, change: api.JsonChange) => void, value, { key, ...change });
      return feed.add({
        type: 'json',
        wants: ({ key }) => key !== undefined && (isPrefix ? key.startsWith(prefix) : key === name),
        async load(): Promise<Known> {
          const entries = await entriesOf(name);
          const known = new Map(entries.map(({ key, updatedAt }) => [key, updatedAt]));
          const gone = isPrefix ? [...present] : [name];
          for (const key of gone) if (!known.has(key)) say(key, undefined, { deleted: true });
          present = new Set(known.keys());
          for (const { key, value, updatedAt } of entries) say(key, value, { deleted: false, updatedAt });
          return known;
        },
        async take(event: ChangeEvent): Promise<void> {
          const { kind, key = '', updatedAt } = event;
          if (kind === 'json.put') {
            const found = event.truncated ? await entry(key) : { value: event.data, updatedAt };
            // Deleted since; the event of the deletion follows.
            if (found === undefined) return;
            present.add(key);
            say(key, found.value, { deleted: false, updatedAt: found.updatedAt });
          } else if (present.delete(key)) {
            say(key, undefined, { deleted: true, updatedAt });
          }
        },
      });
    },
  };
}

/** Deletes; resolves with false if there was nothing. */
export async function deleted(transport: Pick<Transport, 'call'>, request: Request, ...missing: api.Problem['code'][]): Promise<boolean> {
  try {
    await transport.call(request);
    return true;
  } catch (error) {
    if (isCode(error, ...missing)) return false;
    throw error;
  }
}
