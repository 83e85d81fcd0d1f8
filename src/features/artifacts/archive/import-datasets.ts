/** The datasets of an imported zip: their rows are checked as those of an upload are, and stored before the transaction that names them. */
import { Failure } from '../../../../protocol/core/errors.ts';
import type { ArtifactId } from '../../../../protocol/core/ids.ts';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import { DATASET_TYPES } from '../../../../protocol/data/datasets.ts';
import type { Spool } from '../../../storage/spool.ts';
import { type DatasetContent, encodeRows } from '../../data/datasets/encode.ts';
import { insertVersion, lockFloor } from '../../data/datasets/rows.ts';
import { rowsIn } from '../../data/datasets/sources.ts';
import type { Queries, ServiceDeps } from '../../deps.ts';
import { stampObjects } from '../publish/rows.ts';
import { datasetEntry, MANIFEST_ENTRY, type Manifest } from './manifest.ts';
import { archiveFailure, type ZipReader } from './zip-reader.ts';

type Dataset = Manifest['datasets'][number];
type Deps = Pick<ServiceDeps, 'sql' | 'clock' | 'objects'> & { readonly spool: Spool };

export type StoredDatasets = readonly (DatasetContent & Pick<Dataset, 'name' | 'version' | 'created_at_ms'>)[];

/** Throws INVALID_REQUEST or the code of a limit, naming the entry. */
export async function storeDatasets(deps: Deps, zip: ZipReader, datasets: readonly Dataset[]): Promise<StoredDatasets> {
  if (datasets.length > LIMITS.datasetsMax) throw new Failure('DATASET_LIMIT_EXCEEDED', { param: MANIFEST_ENTRY });
  if (new Set(datasets.map(({ name }) => name)).size < datasets.length) throw archiveFailure(MANIFEST_ENTRY, 'names a dataset twice');
  const stored: StoredDatasets[number][] = [];
  for (const dataset of datasets) stored.push(await storeDataset(deps, zip, dataset));
  return stored;
}

async function storeDataset({ sql, clock, objects, spool }: Deps, zip: ZipReader, dataset: Dataset): Promise<StoredDatasets[number]> {
  const entry = datasetEntry(dataset.name);
  const chunks = zip.stream(entry, LIMITS.datasetBytesMax, () => new Failure('FILE_TOO_LARGE', { param: entry }));
  const names = dataset.columns.map(({ name }) => name);
  const { file, ...content } = await naming(entry, () => encodeRows(spool, rowsIn(chunks, DATASET_TYPES.ndjson, '', names), ''));
  try {
    if (content.sha256 !== dataset.sha256 || content.sizeBytes !== dataset.size_bytes) {
      throw archiveFailure(entry, 'is not what the manifest says; the archive is damaged');
    }
    await stampObjects(sql, new Map([[content.sha256, content.sizeBytes]]), clock.nowMs());
    await objects.putFile(content.sha256, file.path, content.sizeBytes);
  } finally {
    await file.dispose();
  }
  const { name, version, created_at_ms } = dataset;
  return { ...content, name, version, created_at_ms };
}

/** Answers their bytes. */
export async function importDatasets(tx: Queries, id: ArtifactId, datasets: StoredDatasets): Promise<number> {
  if (datasets.length === 0) return 0;
  await lockFloor(tx, id);
  let bytes = 0;
  for (const [index, { name, version, created_at_ms: createdAtMs, ...content }] of datasets.entries()) {
    await insertVersion(tx, id, { name, version, seq: index + 1, createdAtMs }, content);
    bytes += content.sizeBytes;
  }
  return bytes;
}

async function naming<T>(entry: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof Failure) || error.details.param === entry) throw error;
    throw new Failure(error.code, { ...error.details, param: entry, message: `${entry}: ${error.message}` });
  }
}
