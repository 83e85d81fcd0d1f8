/** Writing documents over HTTP: the server is one more client of Yjs, and an update that comes is that of whoever sent it. */
import type { DocumentsPart } from '../../../actors/documents-part.ts';
import { checkConditions } from '../../../actors/json-conditions.ts';
import type { LiveDocument } from '../../../actors/live-document.ts';
import type { ActorRuntime } from '../../../actors/runtime.ts';
import type { Endpoints } from '../../../protocol/table.ts';
import type { Call, Handlers } from '../../edge/call.ts';
import { applyOps, checkOps } from './operations.ts';
import { OwnClients } from './own-clients.ts';
import { etagOf } from './reading.ts';

type Writing = 'documents.write' | 'documents.apply';

// An operation is written in more bytes than its JSON has at most by its ids, and by numbers: "0.1," becomes nine bytes.
const OP_BYTES = 1000;
const JSON_FACTOR = 3;

export function documentWriteHandlers({ runtime }: { readonly runtime: Pick<ActorRuntime, 'ask'> }): Handlers<Writing> {
  const clients = new OwnClients();
  return {
    'documents.write': (call) => {
      const { artifactId, doc: name } = call.params;
      const { ops } = call.body;
      const bytesMax = ops.length * OP_BYTES + Buffer.byteLength(call.bodyText ?? JSON.stringify(call.body)) * JSON_FACTOR;
      return write(runtime, call, (live) => {
        live.read((doc) => checkOps(doc, ops));
        live.edit(accountOf(call), bytesMax, (doc) => clients.writing(artifactId, name, doc, () => applyOps(doc, ops)));
        return ops.length;
      });
    },
    'documents.apply': (call) => write(runtime, call, (live) => (live.apply(call.body, accountOf(call), HTTP) ? 1 : 0)),
  };
}

/** Nobody who listens: all are told. */
const HTTP = Symbol('a call over HTTP');

type WritingCall = Call<Endpoints[Writing]>;

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
      checkConditions(currentOf(documents, doc), call);
      const applied = change(documents.open(doc));
      const seq = documents.find(doc)?.seq ?? 0;
      return { reply: 'ok', body: { success: true, data: { seq, applied } }, etag: etagOf(seq) };
    },
    ({ documents }) => documents.prepare(doc),
  );
}

function currentOf(documents: DocumentsPart, name: string) {
  const info = documents.find(name);
  return info && { etag: etagOf(info.seq), updatedAtMs: info.updatedAtMs };
}

/** Whose change it is. */
export function accountOf({ principal }: Pick<Call, 'principal'>): string | null {
  return principal.kind === 'user' ? principal.userId : null;
}
