/** Handlers of the versions of a document. Their SQL stands in `src/storage/document-versions.ts`, where compaction uses it too. */
import type { ActorRuntime, Asker } from '../../../../../actors/runtime/runtime.ts';
import { Failure } from '../../../../../protocol/core/errors.ts';
import type { ArtifactId } from '../../../../../protocol/core/ids.ts';
import type { Handlers } from '../../../../edge/call.ts';
import { cutPage, decodeCursor } from '../../../../edge/paging.ts';
import { dateTime } from '../../../../platform/date-time.ts';
import {
  countDocumentVersions,
  type DocumentVersion,
  deleteDocumentVersion,
  listDocumentVersions,
} from '../../../../storage/document-versions.ts';
import type { Sql } from '../../../../storage/sql.ts';
import { accountOf, keyOf } from '../rules.ts';
import type { WholeDocuments } from '../whole-documents.ts';

interface VersionDeps {
  readonly sql: Sql;
  readonly runtime: Pick<ActorRuntime, 'ask'>;
  readonly whole: WholeDocuments;
}

type VersionIds = 'documents.versions' | 'documents.makeVersion' | 'documents.deleteVersion' | 'documents.restore';

export function versionHandlers({ sql, runtime, whole }: VersionDeps): Handlers<VersionIds> {
  return {
    'documents.versions': async (call) => {
      await requireDocument(runtime, call);
      const { limit, cursor, count } = call.query;
      const rows = await listDocumentVersions(sql, keyOf(call), { beforeSeq: decodeCursor(cursor).number, limit: limit + 1 });
      const { items, page } = cutPage(rows, limit, ({ seq }) => ({ number: seq, id: '' }));
      const total = count ? { total: await countDocumentVersions(sql, keyOf(call)) } : {};
      const data = { versions: items.map(presentVersion), hasMore: page.has_more, nextCursor: page.next_cursor, ...total };
      return { reply: 'ok', body: { success: true, data } };
    },
    'documents.makeVersion': async (call) => {
      await requireDocument(runtime, call);
      const made = await whole.makeVersion(keyOf(call), { label: call.body.label, by: accountOf(call), nowMs: call.nowMs });
      return { reply: 'created', body: { success: true, data: presentVersion(made) } };
    },
    'documents.deleteVersion': async (call) => {
      if (!(await deleteDocumentVersion(sql, keyOf(call), call.params.seq))) throw new Failure('VERSION_NOT_FOUND', { param: 'seq' });
      return { reply: 'ok', body: { success: true, data: { deleted: true } } };
    },
    'documents.restore': async (call) => {
      await requireDocument(runtime, call);
      const { artifactId, doc } = call.params;
      const update = await whole.restoring(keyOf(call), call.body.seq);
      const data = await runtime.ask(
        artifactId,
        ({ documents }) => {
          // The document may have been deleted meanwhile. The update would then create a new one with half of the content.
          if (documents.find(doc) === undefined) throw new Failure('DOCUMENT_NOT_FOUND', { param: 'doc' });
          const restored = documents.open(doc).apply(update, accountOf(call), whole);
          return { seq: documents.find(doc)?.seq ?? 0, restored };
        },
        ({ documents }) => documents.prepare(doc),
        call,
      );
      return { reply: 'ok', body: { success: true, data } };
    },
  };
}

/** Settles when all earlier changes are in the store, because the calls above read it. Throws DOCUMENT_NOT_FOUND. */
function requireDocument(
  runtime: Pick<ActorRuntime, 'ask'>,
  call: Asker & { readonly params: { readonly artifactId: ArtifactId; readonly doc: string } },
): void | Promise<void> {
  const { params } = call;
  return runtime.ask(
    params.artifactId,
    ({ documents }) => {
      if (documents.find(params.doc) === undefined) throw new Failure('DOCUMENT_NOT_FOUND', { param: 'doc' });
    },
    ({ documents }) => documents.prepareList(),
    call,
  );
}

function presentVersion({ seq, label, automatic, createdAtMs, createdBy, sizeBytes }: DocumentVersion) {
  return { seq, label, automatic, createdAt: dateTime(createdAtMs), createdBy, sizeBytes };
}
