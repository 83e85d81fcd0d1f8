/** Documents over HTTP: which there are, what they hold, their versions. Source: contract.md §6. */
import type { DocumentInfo } from '../../../actors/documents-part.ts';
import type { ActorRuntime } from '../../../actors/runtime.ts';
import { Failure } from '../../../protocol/errors.ts';
import type { ArtifactId } from '../../../protocol/ids.ts';
import { documentName } from '../../../protocol/schemas/document.ts';
import type { Endpoints } from '../../../protocol/table.ts';
import type { Handlers } from '../../edge/call.ts';
import type { DocumentThread } from '../../storage/document-thread.ts';
import { type DocumentVersion, deleteDocumentVersion, listDocumentVersions } from '../../storage/document-versions.ts';
import type { Sql } from '../../storage/sql.ts';
import { cutPage, decodeCursor } from '../paging.ts';
import { documentReadHandlers } from './reading.ts';
import { WholeDocuments } from './whole-documents.ts';
import { accountOf, documentWriteHandlers } from './writing.ts';

type Ids = Extract<keyof Endpoints, `documents.${string}`>;

export interface DocumentDeps {
  readonly sql: Sql;
  readonly runtime: Pick<ActorRuntime, 'ask'>;
  readonly thread: DocumentThread;
  /** Who has which document open. */
  readonly rooms: { count(artifactId: ArtifactId, document: string): number };
}

export function documentHandlers(deps: DocumentDeps): Handlers<Ids> {
  const whole = new WholeDocuments(deps);
  return {
    ...documentReadHandlers({ ...deps, whole }),
    ...documentWriteHandlers(deps),
    ...listHandlers(deps),
    ...versionHandlers(deps, whole),
  };
}

function listHandlers({ runtime, rooms }: DocumentDeps): Handlers<'documents.list' | 'documents.delete'> {
  return {
    'documents.list': (call) => {
      const { artifactId } = call.params;
      const { limit, cursor } = call.query;
      const after = cursor === undefined ? '' : nameOfCursor(cursor);
      return runtime.ask(
        artifactId,
        ({ documents }) => {
          const rest = documents.list().filter(({ name }) => name > after);
          const page = rest.slice(0, limit).map((info) => presentInfo(info, rooms.count(artifactId, info.name)));
          const last = rest.length > limit ? page.at(-1) : undefined;
          const nextCursor = last === undefined ? null : Buffer.from(last.name).toString('base64url');
          return { reply: 'ok', body: { success: true, data: { documents: page, hasMore: nextCursor !== null, nextCursor } } } as const;
        },
        ({ documents }) => documents.prepareList(),
      );
    },
    'documents.delete': ({ params }) =>
      runtime.ask(
        params.artifactId,
        ({ documents }) => {
          documents.drop(params.doc);
          return { reply: 'ok', body: { success: true, data: { deleted: true } } } as const;
        },
        ({ documents }) => documents.prepareList(),
      ),
  };
}

type VersionIds = 'documents.versions' | 'documents.makeVersion' | 'documents.deleteVersion' | 'documents.restore';

function versionHandlers({ sql, runtime }: DocumentDeps, whole: WholeDocuments): Handlers<VersionIds> {
  return {
    'documents.versions': async (call) => {
      await requireDocument(runtime, call);
      const { limit, cursor } = call.query;
      const rows = await listDocumentVersions(sql, whereOf(call), { beforeSeq: decodeCursor(cursor).number, limit: limit + 1 });
      const { items, page } = cutPage(rows, limit, ({ seq }) => ({ number: seq, id: '' }));
      const data = { versions: items.map(presentVersion), hasMore: page.has_more, nextCursor: page.next_cursor };
      return { reply: 'ok', body: { success: true, data } };
    },
    'documents.makeVersion': async (call) => {
      await requireDocument(runtime, call);
      const made = await whole.makeVersion(whereOf(call), { label: call.body.label, by: accountOf(call), nowMs: call.nowMs });
      return { reply: 'created', body: { success: true, data: presentVersion(made) } };
    },
    'documents.deleteVersion': async (call) => {
      if (!(await deleteDocumentVersion(sql, whereOf(call), call.params.seq))) throw new Failure('VERSION_NOT_FOUND', { param: 'seq' });
      return { reply: 'ok', body: { success: true, data: { deleted: true } } };
    },
    'documents.restore': async (call) => {
      await requireDocument(runtime, call);
      const { artifactId, doc } = call.params;
      const update = await whole.restoring(whereOf(call), call.body.seq);
      const data = await runtime.ask(
        artifactId,
        ({ documents }) => {
          // Deleted since: an update of what was there would make half of it anew.
          if (documents.find(doc) === undefined) throw new Failure('DOCUMENT_NOT_FOUND', { param: 'doc' });
          const restored = documents.open(doc).apply(update, accountOf(call), whole);
          return { seq: documents.find(doc)?.seq ?? 0, restored };
        },
        ({ documents }) => documents.prepare(doc),
      );
      return { reply: 'ok', body: { success: true, data } };
    },
  };
}

type OfDocument = { readonly params: { readonly artifactId: ArtifactId; readonly doc: string } };

/** Settles when what was changed before is in the store. Throws or rejects with DOCUMENT_NOT_FOUND. */
function requireDocument(runtime: Pick<ActorRuntime, 'ask'>, { params }: OfDocument): void | Promise<void> {
  return runtime.ask(
    params.artifactId,
    ({ documents }) => {
      if (documents.find(params.doc) === undefined) throw new Failure('DOCUMENT_NOT_FOUND', { param: 'doc' });
    },
    ({ documents }) => documents.prepareList(),
  );
}

function whereOf({ params }: OfDocument) {
  return { artifactId: params.artifactId, name: params.doc };
}

function nameOfCursor(cursor: string): string {
  const name = Buffer.from(cursor, 'base64url').toString();
  if (documentName.safeParse(name).success) return name;
  throw new Failure('INVALID_REQUEST', { message: 'cursor must be nextCursor of the page before.', param: 'cursor' });
}

function presentInfo({ name, seq, sizeBytes, createdAtMs, updatedAtMs }: DocumentInfo, connected: number) {
  return { name, seq, sizeBytes, createdAt: timeOf(createdAtMs), updatedAt: timeOf(updatedAtMs), connected };
}

function presentVersion({ seq, label, automatic, createdAtMs, createdBy, sizeBytes }: DocumentVersion) {
  return { seq, label, automatic, createdAt: timeOf(createdAtMs), createdBy, sizeBytes };
}

function timeOf(atMs: number): string {
  return new Date(atMs).toISOString();
}
