/**
 * Handlers of the content of documents. Small documents are read in a turn of their actor; large ones and versions are read from the store,
 * so that they do not block the actor. For a write the server acts as one more Yjs client.
 */
import { type RootKinds, type View, viewDocument } from '../../../../../actors/documents/document-view.ts';
import type { LiveDocument } from '../../../../../actors/documents/live-document.ts';
import { checkConditions } from '../../../../../actors/json/json-conditions.ts';
import type { ActorRuntime } from '../../../../../actors/runtime/runtime.ts';
import { Failure } from '../../../../../protocol/core/errors.ts';
import type { Endpoints } from '../../../../../protocol/table.ts';
import { etagMatches } from '../../../../edge/answer.ts';
import type { Call, Handlers, Reply } from '../../../../edge/call.ts';
import { chain } from '../../../../edge/chain.ts';
import { accountOf, conditionState, etagOf, keyOf } from '../rules.ts';
import type { WholeDocuments } from '../whole-documents.ts';
import { applyOps, checkOps } from './operations.ts';
import { OwnClients } from './own-clients.ts';
import { refuseTooDeep, requireJsonSize, requireText, updateBytesMax } from './rules.ts';

type Reading = 'documents.get' | 'documents.text' | 'documents.state';
type Writing = 'documents.write' | 'documents.apply';
type ReadingCall = Call<Endpoints[Reading]>;
type WritingCall = { [I in Writing]: Call<Endpoints[I]> }[Writing];

interface ContentDeps {
  readonly runtime: Pick<ActorRuntime, 'ask'>;
  readonly whole: WholeDocuments;
}

// Stored bytes. Reading this much takes a few milliseconds, which is within the budget of a turn.
const INLINE_BYTES_MAX = 128 * 1024;

/** The outcome of a turn: the value, that the caller's copy is current, or that the document must be read from the store. */
type Found<T> =
  | { readonly at: 'turn'; readonly seq: number; readonly value: T }
  | { readonly at: 'unchanged'; readonly seq: number }
  | { readonly at: 'store' };

interface Seen {
  readonly seq: number;
  readonly types: RootKinds;
  readonly text: string | Uint8Array;
}

export function contentHandlers(deps: ContentDeps): Handlers<Reading | Writing> {
  return { ...readHandlers(deps), ...writeHandlers(deps) };
}

function readHandlers(deps: ContentDeps): Handlers<Reading> {
  return {
    'documents.get': (call) =>
      chain(see(deps, call, { what: 'json' }), (seen) => ('types' in seen ? contentReply(call.params.doc, seen) : unchangedJson(seen.seq))),
    'documents.text': (call) =>
      chain(see(deps, call, { what: 'text', type: call.query.type }), (seen) => {
        if (!('types' in seen)) return { reply: 'ok', body: '', etag: etagOf(seen.seq) } as const;
        requireText(seen.types, call.query.type);
        return { reply: 'ok', body: seen.text, etag: etagOf(seen.seq), type: 'text/plain; charset=utf-8' } as const;
      }),
    'documents.state': (call) =>
      chain(
        find(deps, call, (live) => live.missing()),
        (found) => {
          switch (found.at) {
            case 'turn':
              return stateReply(found.seq, found.value);
            case 'unchanged':
              return stateReply(found.seq, new Uint8Array());
            case 'store':
              return deps.whole.state(keyOf(call), call.query.seq).then(({ seq, update }) => stateReply(seq, update));
            default:
              return found satisfies never;
          }
        },
      ),
  };
}

type SeenOrNot = Seen | { readonly seq: number };

function see(deps: ContentDeps, call: ReadingCall, view: View): SeenOrNot | Promise<SeenOrNot> {
  return chain<Found<Omit<Seen, 'seq'>>, SeenOrNot>(
    find(deps, call, (live) => live.read((doc) => refusingTooDeep(() => viewDocument(doc, view)))),
    (found) => {
      switch (found.at) {
        case 'turn':
          return { seq: found.seq, ...found.value };
        case 'unchanged':
          return { seq: found.seq };
        case 'store':
          return deps.whole
            .view(keyOf(call), call.query.seq, view)
            .then(({ seq, types, bytes }) => ({ seq, types, text: bytes }), refuseTooDeep);
        default:
          return found satisfies never;
      }
    },
  );
}

function find<T>({ runtime }: ContentDeps, call: ReadingCall, read: (live: LiveDocument) => T): Found<T> | Promise<Found<T>> {
  const { artifactId, doc } = call.params;
  return runtime.ask<Found<T>>(
    artifactId,
    ({ documents }) => {
      const info = documents.find(doc);
      if (info === undefined) throw new Failure('DOCUMENT_NOT_FOUND', { param: 'doc' });
      if (call.query.seq !== undefined) return { at: 'store' };
      const { seq } = info;
      if (call.ifNoneMatch !== undefined && etagMatches(call.ifNoneMatch, etagOf(seq))) return { at: 'unchanged', seq };
      if (info.sizeBytes > INLINE_BYTES_MAX) return { at: 'store' };
      return { at: 'turn', seq, value: read(documents.open(doc)) };
    },
    ({ documents }) => {
      const listing = documents.prepareList();
      if (listing !== undefined) return listing;
      const sizeBytes = call.query.seq === undefined ? documents.find(doc)?.sizeBytes : undefined;
      return sizeBytes === undefined || sizeBytes > INLINE_BYTES_MAX ? undefined : documents.prepare(doc);
    },
  );
}

function refusingTooDeep<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    return refuseTooDeep(error);
  }
}

// The edge sends `json` and ignores `body`, which is only there to satisfy the type of the reply.
const IGNORED_BODY = { success: true, data: { name: '', seq: 0, types: {}, content: {} } } as const;

function contentReply(name: string, { seq, types, text }: Seen): Reply<Endpoints['documents.get'], 'ok'> {
  requireJsonSize(text.length);
  const content = typeof text === 'string' ? text : new TextDecoder().decode(text);
  const json = `{"success":true,"data":{"name":"${name}","seq":${seq},"types":${JSON.stringify(types)},"content":${content}}}`;
  return { reply: 'ok', body: IGNORED_BODY, json, etag: etagOf(seq) };
}

/** Leads to a 304: the edge compares the ETag with If-None-Match. */
function unchangedJson(seq: number): Reply<Endpoints['documents.get'], 'ok'> {
  return { reply: 'ok', body: IGNORED_BODY, json: '', etag: etagOf(seq) };
}

function stateReply(seq: number, update: Uint8Array): Reply<Endpoints['documents.state'], 'ok'> {
  return { reply: 'ok', body: update, etag: etagOf(seq) };
}

function writeHandlers({ runtime }: ContentDeps): Handlers<Writing> {
  const clients = new OwnClients();
  return {
    'documents.write': (call) => {
      const { artifactId, doc: name } = call.params;
      const { ops } = call.body;
      const bytesMax = updateBytesMax(ops.length, Buffer.byteLength(call.bodyText ?? JSON.stringify(call.body)));
      return write(runtime, call, (live) => {
        live.read((doc) => checkOps(doc, ops));
        live.edit(accountOf(call), bytesMax, (doc) => clients.writing(artifactId, name, doc, () => applyOps(doc, ops)));
        return ops.length;
      });
    },
    'documents.apply': (call) => write(runtime, call, (live) => (live.apply(call.body, accountOf(call), HTTP) ? 1 : 0)),
  };
}

/** The origin of changes over HTTP. It is no connected peer, so the change goes to every peer. */
const HTTP = Symbol('a call over HTTP');

interface Written {
  readonly reply: 'ok';
  readonly body: { readonly success: true; readonly data: { readonly seq: number; readonly applied: number } };
  readonly etag: string;
}

function write(runtime: Pick<ActorRuntime, 'ask'>, call: WritingCall, change: (live: LiveDocument) => number): Written | Promise<Written> {
  const { artifactId, doc } = call.params;
  return runtime.ask(
    artifactId,
    ({ documents }): Written => {
      checkConditions(conditionState(documents.find(doc)), call);
      const applied = change(documents.open(doc));
      const seq = documents.find(doc)?.seq ?? 0;
      return { reply: 'ok', body: { success: true, data: { seq, applied } }, etag: etagOf(seq) };
    },
    ({ documents }) => documents.prepare(doc),
    call,
  );
}
