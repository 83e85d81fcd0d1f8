/** The endpoints of datasets. They are plain rows of the database with their contents in the object store, so any node answers. */
import { chainOf } from '../../../../actors/access/access.ts';
import { checkConditions } from '../../../../actors/json/json-conditions.ts';
import { Failure } from '../../../../protocol/core/errors.ts';
import type { ArtifactId } from '../../../../protocol/core/ids.ts';
import type { Endpoints } from '../../../../protocol/table.ts';
import { etagMatches } from '../../../edge/answer.ts';
import type { Call, Handlers } from '../../../edge/call.ts';
import type { ShareQueue } from '../../../platform/share-queue.ts';
import type { ServiceDeps } from '../../deps.ts';
import { addRelease, lockUsage } from '../../people/usage/rows.ts';
import { checkOwnersRoom } from '../../people/usage/storage.ts';
import type { PageReads } from '../page-reads.ts';
import { queryMark } from '../tables/queries/cursor.ts';
import { EVERYTHING, parseFilterText } from '../tables/queries/filter.ts';
import { parseFields } from '../tables/queries/projection.ts';
import { readHolders } from '../tables/reads.ts';
import { contentReply } from './content.ts';
import { countRows, cursorAt, positionOf, readPage, versionGone } from './page.ts';
import { datasetType, laneOf, type ReceiveDeps, receiveDataset, writtenReply } from './receive.ts';
import {
  countDatasets,
  deleteDataset,
  holdArtifact,
  insertEvent,
  listDatasets,
  listVersions,
  lockFloor,
  readDataset,
  type StoredDataset,
} from './rows.ts';
import { conditionState, cursorOf, datasetEtag, datasetRecord, listedDataset, nameOfCursor, versionRecord } from './rules.ts';
import { uploadHandlers } from './uploads.ts';
import { requireFew } from './write.ts';

export interface DatasetDeps extends ReceiveDeps, Pick<ServiceDeps, 'config' | 'log'> {
  /** How many pages of rows are looked for at once. */
  readonly reading: ShareQueue;
  readonly pageReads: PageReads;
}

export function datasetHandlers(deps: DatasetDeps): Handlers<Extract<keyof Endpoints, `datasets.${string}`>> {
  return { ...readHandlers(deps), ...writeHandlers(deps), ...uploadHandlers(deps) };
}

interface Place {
  readonly artifactId: ArtifactId;
  readonly dataset: string;
}

function readHandlers(deps: DatasetDeps): Handlers<'datasets.list' | 'datasets.get' | 'datasets.content' | 'datasets.rows'> {
  const { sql, objects } = deps;
  return {
    'datasets.list': async ({ params: { artifactId }, query: { limit, cursor, count } }) => {
      const found = await listDatasets(sql, artifactId, cursor === undefined ? '' : nameOfCursor(cursor), limit + 1);
      const datasets = found.slice(0, limit).map(listedDataset);
      const last = found.length > limit ? datasets.at(-1) : undefined;
      const nextCursor = last === undefined ? null : cursorOf(last.name);
      const all = await countDatasets(sql, artifactId);
      const data = { datasets, count: all, hasMore: nextCursor !== null, nextCursor, ...(count && { total: all }) };
      return { reply: 'ok', body: { success: true, data } };
    },
    'datasets.get': async ({ params: { artifactId, dataset } }) => {
      const stored = await readDataset(sql, artifactId, dataset);
      if (stored === undefined) throw missing();
      const versions = (await listVersions(sql, artifactId, dataset)).map(versionRecord);
      return { reply: 'ok', body: { success: true, data: { ...datasetRecord(stored), versions } }, etag: datasetEtag(stored) };
    },
    'datasets.content': async (call) => {
      const stored = await requireVersion(deps, call.params, call.query.version);
      noteRead(deps, call);
      return contentReply(objects, stored, call, laneOf(readHolders(call.params.artifactId, call)));
    },
    'datasets.rows': (call) => rowsReply(deps, call),
  };
}

function noteRead(
  { pageReads }: DatasetDeps,
  { params, host, fetchSite, nowMs }: Call<Endpoints['datasets.rows' | 'datasets.content']>,
): void {
  pageReads.note({ artifactId: params.artifactId, name: params.dataset, host, fetchSite, nowMs });
}

// The edge sends `json` and does not read `body`.
const UNREAD = { success: true as const, data: { rows: [], version: 0, hasMore: false, nextCursor: null } };

async function rowsReply(deps: DatasetDeps, call: Call<Endpoints['datasets.rows']>) {
  const { filter, fields, limit, cursor, count, version } = call.query;
  const wanted = {
    filter: filter === undefined ? EVERYTHING : parseFilterText(filter),
    // Rows of tables always show their id, which rows of datasets need not have.
    projection: parseFields(fields, 'fields')?.slice(1),
    limit,
  };
  const mark = queryMark([call.params.dataset, filter ?? null]);
  const from = cursor === undefined ? undefined : positionOf(cursor, mark);
  const stored = await requireVersion(deps, call.params, from?.version ?? version);
  noteRead(deps, call);
  const etag = `"${stored.version}.${queryMark([filter ?? null, fields ?? null, limit, from?.row ?? 0, count])}"`;
  if (call.ifNoneMatch !== undefined && etagMatches(call.ifNoneMatch, etag)) return { reply: 'ok', body: UNREAD, etag } as const;
  const holders = readHolders(call.params.artifactId, call);
  const lane = laneOf(holders);
  const found = await deps.reading.run(holders, () => readPage(deps.objects, stored, { ...wanted, from: from?.row ?? 0 }, lane));
  const total = count ? await deps.reading.run(holders, () => countRows(deps.objects, stored, wanted.filter, lane)) : undefined;
  const nextCursor = found.next === null ? null : cursorAt(mark, { version: stored.version, row: found.next });
  const rest = `"version":${stored.version},"hasMore":${nextCursor !== null},"nextCursor":${JSON.stringify(nextCursor)}`;
  const counted = total === undefined ? '' : `,"total":${total}`;
  const json = Buffer.from(`{"success":true,"data":{"rows":[${found.texts.join(',')}],${rest}${counted}}}`);
  return { reply: 'ok', body: UNREAD, json, etag } as const;
}

/** Throws DATASET_NOT_FOUND, VERSION_NOT_FOUND. */
async function requireVersion({ sql }: DatasetDeps, { artifactId, dataset }: Place, version: number | undefined): Promise<StoredDataset> {
  const stored = await readDataset(sql, artifactId, dataset, version);
  if (stored !== undefined) return stored;
  if (version !== undefined && (await readDataset(sql, artifactId, dataset)) !== undefined) throw versionGone(version);
  throw missing();
}

function missing(): Failure {
  return new Failure('DATASET_NOT_FOUND', { param: 'dataset' });
}

function writeHandlers(deps: DatasetDeps): Handlers<'datasets.put' | 'datasets.delete'> {
  const { sql, clock, bus } = deps;
  return {
    'datasets.put': async (call) => {
      const { body, mediaType, ifMatch, ifNoneMatch } = call;
      const { artifactId, dataset: name } = call.params;
      // Refused before the rows come. The transaction that records them decides.
      const before = await readDataset(sql, artifactId, name);
      checkConditions(conditionState(before), call);
      if (before === undefined) await requireFew(sql, artifactId);
      await checkOwnersRoom(sql, artifactId, 1, clock.nowMs());
      const sent = { chunks: body, type: datasetType(mediaType) };
      return writtenReply(
        await receiveDataset(deps, call, { artifactId, name, ifMatch, ifNoneMatch, asker: call, chain: chainOf(call.principal) }, sent),
      );
    },
    'datasets.delete': async (call) => {
      const { artifactId, dataset: name } = call.params;
      await sql.begin(async (tx) => {
        const holder = await holdArtifact(tx, artifactId);
        if (holder === undefined) throw new Failure('ARTIFACT_NOT_FOUND', { param: 'artifactId' });
        const floor = await lockFloor(tx, artifactId);
        const stored = await readDataset(tx, artifactId, name);
        if (call.refusal !== undefined) throw call.refusal;
        checkConditions(conditionState(stored), call);
        if (stored === undefined) throw missing();
        const bytes = await deleteDataset(tx, artifactId, name);
        await insertEvent(tx, artifactId, { seq: floor.seq + 1, name, isDeletion: true }, chainOf(call.principal));
        await lockUsage(tx, holder);
        await addRelease(tx, holder, bytes, clock.nowMs());
      });
      bus.tell({ kind: 'dataset.changed', artifactId });
      return { reply: 'ok', body: { success: true, data: { deleted: true } } };
    },
  };
}
