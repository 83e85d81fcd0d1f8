/** Reading documents over HTTP: small ones from their actor, within the turn; large ones and versions from the store, beside it. */
import { type RootKinds, textRoot, type View, viewDocument } from '../../../actors/document-view.ts';
import type { LiveDocument } from '../../../actors/live-document.ts';
import type { ActorRuntime } from '../../../actors/runtime.ts';
import { Failure } from '../../../protocol/errors.ts';
import { LIMITS } from '../../../protocol/limits.ts';
import type { Endpoints } from '../../../protocol/table.ts';
import { etagMatches } from '../../edge/answer.ts';
import type { Call, Handlers, Reply } from '../../edge/call.ts';
import { chain } from '../../edge/chain.ts';
import type { Where, WholeDocuments } from './whole-documents.ts';

type Reading = 'documents.get' | 'documents.text' | 'documents.state';

interface ReadingDeps {
  readonly runtime: Pick<ActorRuntime, 'ask'>;
  readonly whole: WholeDocuments;
}

// As stored. Reading so much takes a few milliseconds, which a turn may.
const INLINE_BYTES_MAX = 128 * 1024;

/** What is read within the turn, nothing where the caller has it already, or that it must be read beside the actor. */
type Found<T> =
  | { readonly at: 'here'; readonly seq: number; readonly value: T }
  | { readonly at: 'unchanged'; readonly seq: number }
  | { readonly at: 'store' };

interface Seen {
  readonly seq: number;
  readonly types: RootKinds;
  readonly text: string | Uint8Array;
}

export function documentReadHandlers(deps: ReadingDeps): Handlers<Reading> {
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
            case 'here':
              return stateReply(found.seq, found.value);
            case 'unchanged':
              return stateReply(found.seq, new Uint8Array());
            case 'store':
              return deps.whole.state(whereOf(call), call.query.seq).then(({ seq, update }) => stateReply(seq, update));
            default:
              return found satisfies never;
          }
        },
      ),
  };
}

type SeenOrNot = Seen | { readonly seq: number };

function see(deps: ReadingDeps, call: Call<Endpoints[Reading]>, view: View): SeenOrNot | Promise<SeenOrNot> {
  return chain<Found<Omit<Seen, 'seq'>>, SeenOrNot>(
    find(deps, call, (live) => live.read((doc) => notTooDeep(() => viewDocument(doc, view)))),
    (found) => {
      switch (found.at) {
        case 'here':
          return { seq: found.seq, ...found.value };
        case 'unchanged':
          return { seq: found.seq };
        case 'store':
          return deps.whole
            .view(whereOf(call), call.query.seq, view)
            .then(({ seq, types, bytes }) => ({ seq, types, text: bytes }), refuseTooDeep);
        default:
          return found satisfies never;
      }
    },
  );
}

function find<T>({ runtime }: ReadingDeps, call: Call<Endpoints[Reading]>, read: (live: LiveDocument) => T): Found<T> | Promise<Found<T>> {
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
      return { at: 'here', seq, value: read(documents.open(doc)) };
    },
    ({ documents }) => {
      const listing = documents.prepareList();
      if (listing !== undefined) return listing;
      const sizeBytes = call.query.seq === undefined ? documents.find(doc)?.sizeBytes : undefined;
      return sizeBytes === undefined || sizeBytes > INLINE_BYTES_MAX ? undefined : documents.prepare(doc);
    },
  );
}

/** Types within types, without end: only somebody who means harm makes that. */
function notTooDeep<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    return refuseTooDeep(error);
  }
}

function refuseTooDeep(error: unknown): never {
  throw error instanceof RangeError
    ? new Failure('DOCUMENT_TOO_LARGE', { message: 'The document is nested too deep to be shown.', hint: READ_WHOLE })
    : error;
}

const READ_WHOLE = 'GET …/update answers it as a Yjs update.';

/** Throws INVALID_REQUEST naming the texts that there are. */
function requireText(types: RootKinds, wanted: string | undefined): void {
  if (textRoot(types, wanted) !== undefined) return;
  const names = Object.keys(types);
  const texts = names.filter((name) => types[name] === 'text');
  const kinds = names.map((name) => `${name} (${types[name]})`).join(', ') || 'none';
  throw new Failure('INVALID_REQUEST', {
    message: wanted === undefined ? 'type: which text is meant is not clear.' : 'type: the document has no text of that name.',
    hint: texts.length > 0 ? `Its texts: ${texts.join(', ')}.` : `Its shared types: ${kinds}.`,
    param: 'type',
  });
}

// Where `json` is there the edge does not read `body`; the schema says what the text holds.
const UNREAD = { success: true, data: { name: '', seq: 0, types: {}, content: {} } } as const;

function contentReply(name: string, { seq, types, text }: Seen): Reply<Endpoints['documents.get'], 'ok'> {
  if (text.length > LIMITS.documentJsonBytesMax) {
    throw new Failure('DOCUMENT_TOO_LARGE', { message: 'The document is too large to be shown as JSON.', hint: READ_WHOLE });
  }
  const content = typeof text === 'string' ? text : new TextDecoder().decode(text);
  const json = `{"success":true,"data":{"name":"${name}","seq":${seq},"types":${JSON.stringify(types)},"content":${content}}}`;
  return { reply: 'ok', body: UNREAD, json, etag: etagOf(seq) };
}

/** Answers 304: the edge compares the ETag. */
function unchangedJson(seq: number): Reply<Endpoints['documents.get'], 'ok'> {
  return { reply: 'ok', body: UNREAD, json: '', etag: etagOf(seq) };
}

function stateReply(seq: number, update: Uint8Array): Reply<Endpoints['documents.state'], 'ok'> {
  return { reply: 'ok', body: update, etag: etagOf(seq) };
}

function whereOf({ params }: Call<Endpoints[Reading]>): Where {
  return { artifactId: params.artifactId, name: params.doc };
}

/** Of every answer that shows a document as it was at this seq. Quotes included. */
export function etagOf(seq: number): string {
  return `"${seq}"`;
}
