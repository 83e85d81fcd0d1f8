/** Handlers of JSON keys, each one turn of the artifact's actor. */
import type { JsonEntry, PageQuery, WriteOptions, Written } from '../../../../actors/json/json-part.ts';
import type { ArtifactActor } from '../../../../actors/runtime/artifact-actor.ts';
import type { ActorRuntime } from '../../../../actors/runtime/runtime.ts';
import type { Endpoints } from '../../../../protocol/table.ts';
import type { Call, Handlers, Reply } from '../../../edge/call.ts';
import { assertMayUse, cursorOfKey, keyOfCursor, mayUseReserved, type Patch, patchOf, textAt } from './rules.ts';

type JsonEndpoint = 'json.list' | 'json.get' | 'json.put' | 'json.patch' | 'json.delete' | 'json.deleteAll';

export function jsonKeyHandlers(deps: { readonly runtime: Pick<ActorRuntime, 'ask'> }): Handlers<JsonEndpoint> {
  const { runtime } = deps;
  return {
    'json.list': (call) => {
      const query = pageQuery(call);
      return runtime.ask(
        call.params.artifactId,
        (actor) => listReply(query, actor.json.page(query)),
        (actor) => actor.json.warmPage(query),
      );
    },
    'json.get': (call) => {
      const { artifactId, key } = call.params;
      assertMayUse(call.role, key);
      const { path } = call.query;
      return runtime.ask(
        artifactId,
        (actor) => entryReply(path === undefined ? actor.json.get(key) : actor.json.getToParse(key), path),
        (actor) => actor.json.warm(key),
      );
    },
    'json.put': (call) => {
      const { artifactId, key } = call.params;
      assertMayUse(call.role, key);
      const text = call.bodyText ?? JSON.stringify(call.body);
      return runtime.ask(artifactId, (actor) => putReply(actor.json.put(key, text, writeOptions(call))), undefined, call);
    },
    'json.patch': (call) => {
      const { artifactId, key } = call.params;
      assertMayUse(call.role, key);
      const change = patchOf(call);
      return runtime.ask(
        artifactId,
        (actor) => patchReply(patched(actor, key, writeOptions(call), change)),
        (actor) => actor.json.warm(key),
        call,
      );
    },
    'json.delete': (call) => {
      const { artifactId, key } = call.params;
      assertMayUse(call.role, key);
      const turn = (actor: ArtifactActor) => {
        actor.json.delete(key, call);
        return { reply: 'ok', body: { success: true, data: { deleted: true } } } as const;
      };
      return runtime.ask(artifactId, turn, undefined, call);
    },
    'json.deleteAll': (call) => {
      const turn = (actor: ArtifactActor) => {
        const deleted = actor.json.deleteAll(mayUseReserved(call.role));
        return { reply: 'ok', body: { success: true, data: { deleted } } } as const;
      };
      return runtime.ask(call.params.artifactId, turn, undefined, call);
    },
  };
}

function patched({ json }: ArtifactActor, key: string, options: WriteOptions, change: Patch): Written {
  return 'ofText' in change ? json.patchText(key, options, change.ofText) : json.patch(key, options, change.ofValue);
}

function writeOptions(call: { ifMatch: string | undefined; ifNoneMatch: string | undefined; query: { ttl?: number | undefined } }) {
  return { ifMatch: call.ifMatch, ifNoneMatch: call.ifNoneMatch, ttlS: call.query.ttl };
}

/** Splices in the value as it is stored, without parsing it; a key has no characters that need escaping. */
function entryJson(entry: JsonEntry, text: string): string {
  return `"key":"${entry.key}","value":${text},"updatedAt":"${entry.updatedAt}"`;
}

// The edge sends `json` and does not read `body`, which is here for the types only.
const UNREAD = { success: true, data: { key: '', value: null, updatedAt: '', created: false } } as const;

function entryReply(entry: JsonEntry, path: string | undefined): Reply<Endpoints['json.get'], 'ok'> {
  const text = path === undefined ? entry.warmText : textAt(entry.warmText, path);
  return { reply: 'ok', body: UNREAD, json: `{"success":true,"data":{${entryJson(entry, text)}}}`, etag: entry.etag };
}

function putReply({ entry, created }: Written): Reply<Endpoints['json.put'], 'ok' | 'created'> {
  return {
    reply: created ? 'created' : 'ok',
    body: UNREAD,
    json: `{"success":true,"data":{"key":"${entry.key}","created":${created},"updatedAt":"${entry.updatedAt}"}}`,
    etag: entry.etag,
  };
}

function patchReply({ entry, created }: Written): Reply<Endpoints['json.patch'], 'ok' | 'created'> {
  return {
    reply: created ? 'created' : 'ok',
    body: UNREAD,
    json: `{"success":true,"data":{${entryJson(entry, entry.warmText)},"created":${created}}}`,
    etag: entry.etag,
  };
}

function pageQuery(call: Call<Endpoints['json.list']>): ListQuery {
  const { prefix, limit, cursor, values, count } = call.query;
  return {
    prefix,
    limit,
    values,
    withTotal: count,
    after: cursor === undefined ? undefined : keyOfCursor(cursor),
    reserved: mayUseReserved(call.role),
  };
}

interface ListQuery extends PageQuery {
  readonly withTotal: boolean;
}

function listReply(
  query: ListQuery,
  page: { readonly entries: readonly JsonEntry[]; readonly count: number; readonly hasMore: boolean },
): Reply<Endpoints['json.list'], 'ok'> {
  const { entries, count, hasMore } = page;
  const last = entries.at(-1);
  const nextCursor = hasMore && last !== undefined ? cursorOfKey(last.key) : null;
  const keys = entries.map((entry) => entry.key);
  const total = query.withTotal ? { total: count } : {};
  if (!query.values) return { reply: 'ok', body: { success: true, data: { keys, count, hasMore, nextCursor, ...total } } };
  const texts = entries.map((entry) => `{${entryJson(entry, entry.warmText)}}`);
  const rest = `"count":${count},"hasMore":${hasMore},"nextCursor":${JSON.stringify(nextCursor)}${query.withTotal ? `,"total":${count}` : ''}`;
  return {
    reply: 'ok',
    body: { success: true, data: { keys, count, hasMore, nextCursor } },
    json: `{"success":true,"data":{"keys":${JSON.stringify(keys)},${rest},"entries":[${texts.join(',')}]}}`,
  };
}
