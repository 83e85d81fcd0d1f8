/** Handlers of documents over HTTP: the list, deletion, and with them those of contents and versions. Source: contract.md §6. */
import type { DocumentInfo } from '../../../../actors/documents/documents-part.ts';
import { checkConditions } from '../../../../actors/json/json-conditions.ts';
import type { ActorRuntime } from '../../../../actors/runtime/runtime.ts';
import type { ArtifactId } from '../../../../protocol/core/ids.ts';
import type { Endpoints } from '../../../../protocol/table.ts';
import type { Handlers } from '../../../edge/call.ts';
import { dateTime } from '../../../platform/date-time.ts';
import type { DocumentThread } from '../../../storage/document-thread.ts';
import type { Sql } from '../../../storage/sql.ts';
import { contentHandlers } from './contents/handlers.ts';
import { conditionState, cursorOf, nameOfCursor } from './rules.ts';
import { versionHandlers } from './versions/handlers.ts';
import type { WholeDocuments } from './whole-documents.ts';

export interface DocumentDeps {
  readonly sql: Sql;
  readonly runtime: Pick<ActorRuntime, 'ask'>;
  readonly thread: DocumentThread;
  /** Counts the connections that have a document open. */
  readonly rooms: { count(artifactId: ArtifactId, document: string): number };
  readonly whole: WholeDocuments;
}

export function documentHandlers(deps: DocumentDeps): Handlers<Extract<keyof Endpoints, `documents.${string}`>> {
  return { ...listHandlers(deps), ...contentHandlers(deps), ...versionHandlers(deps) };
}

function listHandlers({ runtime, rooms }: DocumentDeps): Handlers<'documents.list' | 'documents.delete'> {
  return {
    'documents.list': (call) => {
      const { artifactId } = call.params;
      const { limit, cursor, count } = call.query;
      const after = cursor === undefined ? '' : nameOfCursor(cursor);
      return runtime.ask(
        artifactId,
        ({ documents }) => {
          const all = documents.list();
          const rest = all.filter(({ name }) => name > after);
          const page = rest.slice(0, limit).map((info) => presentInfo(info, rooms.count(artifactId, info.name)));
          const last = rest.length > limit ? page.at(-1) : undefined;
          const nextCursor = last === undefined ? null : cursorOf(last.name);
          const data = { documents: page, hasMore: nextCursor !== null, nextCursor, ...(count && { total: all.length }) };
          return { reply: 'ok', body: { success: true, data } } as const;
        },
        ({ documents }) => documents.prepareList(),
      );
    },
    'documents.delete': (call) =>
      runtime.ask(
        call.params.artifactId,
        ({ documents }) => {
          checkConditions(conditionState(documents.find(call.params.doc)), call);
          documents.drop(call.params.doc);
          return { reply: 'ok', body: { success: true, data: { deleted: true } } } as const;
        },
        ({ documents }) => documents.prepareList(),
        call,
      ),
  };
}

function presentInfo({ name, seq, sizeBytes, createdAtMs, updatedAtMs }: DocumentInfo, connected: number) {
  return { name, seq, sizeBytes, createdAt: dateTime(createdAtMs), updatedAt: dateTime(updatedAtMs), connected };
}
