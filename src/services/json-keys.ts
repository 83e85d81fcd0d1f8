/** Handlers of the JSON keys: each is one turn of the artifact's actor. */

import { mergePatch } from '../../actors/json-merge.ts';
import { applyOperation } from '../../actors/json-operation.ts';
import { isReserved, type JsonEntry, type PageQuery, type Written } from '../../actors/json-part.ts';
import { applyJsonPatch, parseJsonPatch } from '../../actors/json-patch.ts';
import { parsePath, readPath } from '../../actors/json-path.ts';
import { jsonText, parseJson } from '../../actors/json-text.ts';
import type { ActorRuntime } from '../../actors/runtime.ts';
import { Failure } from '../../protocol/errors.ts';
import { jsonKey, jsonOperation } from '../../protocol/schemas/json-key.ts';
import type { Endpoints } from '../../protocol/table.ts';
import type { Call, Handlers, Reply } from '../edge/call.ts';

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
      assertMayUse(call, key);
      const { path } = call.query;
      return runtime.ask(
        artifactId,
        (actor) => entryReply(actor.json.get(key), path),
        (actor) => actor.json.warm(key),
      );
    },
    'json.put': (call) => {
      const { artifactId, key } = call.params;
      assertMayUse(call, key);
      const text = call.bodyText ?? JSON.stringify(call.body);
      return runtime.ask(artifactId, (actor) => putReply(actor.json.put(key, text, writeOptions(call))));
    },
    'json.patch': (call) => {
      const { artifactId, key } = call.params;
      assertMayUse(call, key);
      const change = patchOf(call);
      return runtime.ask(
        artifactId,
        (actor) => patchReply(actor.json.patch(key, writeOptions(call), change)),
        (actor) => actor.json.warm(key),
      );
    },
    'json.delete': (call) => {
      const { artifactId, key } = call.params;
      assertMayUse(call, key);
      return runtime.ask(artifactId, (actor) => {
        actor.json.delete(key, call);
        return { reply: 'ok', body: { success: true, data: { deleted: true } } } as const;
      });
    },
    'json.deleteAll': (call) =>
      runtime.ask(call.params.artifactId, (actor) => {
        const deleted = actor.json.deleteAll(mayUseReserved(call));
        return { reply: 'ok', body: { success: true, data: { deleted } } } as const;
      }),
  };
}

function mayUseReserved(call: Pick<Call, 'role'>): boolean {
  return call.role === 'owner' || call.role === 'editor';
}

function assertMayUse(call: Pick<Call, 'role'>, key: string): void {
  if (isReserved(key) && !mayUseReserved(call)) {
    throw new Failure('FORBIDDEN', { message: 'Keys that begin with _ are for the owner and editors only.', param: 'key' });
  }
}

function writeOptions(call: { ifMatch: string | undefined; ifNoneMatch: string | undefined; query: { ttl?: number | undefined } }) {
  return { ifMatch: call.ifMatch, ifNoneMatch: call.ifNoneMatch, ttlS: call.query.ttl };
}

/** The texts are spliced in as they are stored; keys need no escape. */
function entryJson(entry: JsonEntry, text: string): string {
  return `"key":"${entry.key}","value":${text},"updatedAt":"${entry.updatedAt}"`;
}

// Where `json` is there the edge does not read `body`; the schemas of the table still say what the text holds.
const UNREAD = { success: true, data: { key: '', value: null, updatedAt: '', created: false } } as const;

function entryReply(entry: JsonEntry, path: string | undefined): Reply<Endpoints['json.get'], 'ok'> {
  const text = path === undefined ? entry.warmText : textAt(entry.warmText, path);
  return { reply: 'ok', body: UNREAD, json: `{"success":true,"data":{${entryJson(entry, text)}}}`, etag: entry.etag };
}

function textAt(text: string, path: string): string {
  const steps = parsePath(path);
  if (steps === undefined) {
    throw new Failure('INVALID_REQUEST', { message: 'path must look like $, $.a.b or $.list[0].', param: 'path' });
  }
  const value = readPath(parseJson(text), steps);
  if (value === undefined) throw new Failure('KEY_NOT_FOUND', { message: `The value has nothing at ${path}.`, param: 'path' });
  return jsonText(value);
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

/** Which of the three forms of PATCH this is, as a function of the current value (undefined: absent). */
function patchOf(call: Call<Endpoints['json.patch']>): (value: unknown) => unknown {
  const body = call.bodyText === undefined ? call.body : parseJson(call.bodyText, call.body);
  switch (call.mediaType) {
    case 'application/merge-patch+json':
      return (value) => mergePatch(value ?? {}, body);
    case 'application/json-patch+json': {
      const patch = parseJsonPatch(body);
      return (value) => applyJsonPatch(present(value), patch);
    }
    default: {
      const operation = operationOf(body);
      return (value) => applyOperation(operation.op === 'remove' ? present(value) : value, operation);
    }
  }
}

function present(value: unknown): unknown {
  if (value === undefined) throw new Failure('KEY_NOT_FOUND', { param: 'key' });
  return value;
}

function operationOf(body: unknown) {
  const parsed = jsonOperation.safeParse(body);
  if (parsed.success && !(parsed.data.op === 'append' && parsed.data.value === undefined)) return parsed.data;
  const issues = (parsed.error?.issues ?? []).map((issue) => ({ path: issue.path.join('.'), message: issue.message }));
  throw new Failure('INVALID_REQUEST', {
    message: 'A PATCH of application/json is one operation: {"op":"increment"|"append"|"remove", "path", "by"|"value"}.',
    hint: 'Send a merge patch as application/merge-patch+json and a JSON patch as application/json-patch+json.',
    param: issues[0]?.path || 'op',
    issues,
  });
}

function pageQuery(call: Call<Endpoints['json.list']>): PageQuery {
  const { prefix, limit, cursor, values } = call.query;
  return { prefix, limit, values, after: cursor === undefined ? undefined : keyOfCursor(cursor), reserved: mayUseReserved(call) };
}

/** A cursor names the last key of its page, so that it stays right whatever is added or deleted meanwhile. */
function keyOfCursor(cursor: string): string {
  const key = Buffer.from(cursor, 'base64url').toString();
  if (jsonKey.safeParse(key).success) return key;
  throw new Failure('INVALID_REQUEST', { message: 'cursor must be nextCursor of the page before.', param: 'cursor' });
}

function listReply(
  query: PageQuery,
  page: { readonly entries: readonly JsonEntry[]; readonly count: number; readonly hasMore: boolean },
): Reply<Endpoints['json.list'], 'ok'> {
  const { entries, count, hasMore } = page;
  const last = entries.at(-1);
  const nextCursor = hasMore && last !== undefined ? Buffer.from(last.key).toString('base64url') : null;
  const keys = entries.map((entry) => entry.key);
  if (!query.values) return { reply: 'ok', body: { success: true, data: { keys, count, hasMore, nextCursor } } };
  const texts = entries.map((entry) => `{${entryJson(entry, entry.warmText)}}`);
  const rest = `"count":${count},"hasMore":${hasMore},"nextCursor":${JSON.stringify(nextCursor)}`;
  return {
    reply: 'ok',
    body: { success: true, data: { keys, count, hasMore, nextCursor } },
    json: `{"success":true,"data":{"keys":${JSON.stringify(keys)},${rest},"entries":[${texts.join(',')}]}}`,
  };
}
