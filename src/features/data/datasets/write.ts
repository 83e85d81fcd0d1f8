/**
 * Stores rows as a new version of a dataset. They go to a file of the spool first, then to the object store, then one transaction records
 * them: a dataset has all rows of a version or none. Room is reserved before anything is stored (src/features/people/usage/storage.ts).
 */
import { type Conditions, checkConditions } from '../../../../actors/json/json-conditions.ts';
import type { Asker } from '../../../../actors/runtime/runtime.ts';
import { Failure } from '../../../../protocol/core/errors.ts';
import { type ArtifactId, type JobId, newId } from '../../../../protocol/core/ids.ts';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import { datasetName } from '../../../../protocol/data/datasets.ts';
import type { Spool } from '../../../storage/spool.ts';
import { stampObjects } from '../../artifacts/publish/rows.ts';
import type { Queries, ServiceDeps } from '../../deps.ts';
import { addRelease, type Holder } from '../../people/usage/rows.ts';
import { endReservation, reserve, settle } from '../../people/usage/storage.ts';
import { type EncodedDataset, encodeRows } from './encode.ts';
import {
  countDatasets,
  deleteOldVersions,
  holdArtifact,
  insertEvent,
  insertVersion,
  lockFloor,
  readDataset,
  type StoredDataset,
} from './rows.ts';
import { conditionState, hasSameRows } from './rules.ts';
import { type GivenRows, givenRows } from './sources.ts';

export interface WriteDeps extends Pick<ServiceDeps, 'sql' | 'objects' | 'clock' | 'bus'> {
  readonly spool: Spool;
}

/** Where the rows go, and who waits for it. */
export interface DatasetWrite extends Conditions {
  readonly artifactId: ArtifactId;
  readonly name: string;
  /** Of the run of a job that writes: its jobs do not hear of it as somebody else's change. */
  readonly chain?: readonly JobId[];
  /** Where its access ends meanwhile, nothing is recorded. */
  readonly asker?: Asker;
  /** In the transaction that records a new version. */
  readonly alongside?: (tx: Queries) => Promise<void>;
  /** The reservation of an upload token, which stays with the token where storing fails. */
  readonly upload?: { readonly reservationId: string; readonly reservedUntilMs: number };
}

export interface WrittenDataset {
  readonly stored: StoredDataset;
  /** False where the newest version has the same rows already. */
  readonly isNew: boolean;
}

/**
 * For other parts of the service, which decide themselves who may write. `rows` are objects of JSON values.
 * Throws INVALID_DATASET_NAME, INVALID_REQUEST, ROW_TOO_LARGE, FILE_TOO_LARGE, DATASET_LIMIT_EXCEEDED, ACCOUNT_STORAGE_FULL,
 * ARTIFACT_NOT_FOUND, VERSION_CONFLICT, and what `rows` throws.
 */
export async function writeDataset(deps: WriteDeps, write: DatasetWrite & { readonly rows: GivenRows }): Promise<WrittenDataset> {
  if (!datasetName.safeParse(write.name).success) throw new Failure('INVALID_DATASET_NAME', { param: 'dataset' });
  return storeDataset(deps, write, await encodeRows(deps.spool, givenRows(write.rows), write.artifactId));
}

/** Disposes of the file in any case. */
export async function storeDataset(deps: WriteDeps, write: DatasetWrite, encoded: EncodedDataset): Promise<WrittenDataset> {
  try {
    const { artifactId, name } = write;
    // Looked at before anything is stored. The transaction decides.
    const before = await readDataset(deps.sql, artifactId, name);
    checkConditions(conditionState(before), write);
    if (before !== undefined && hasSameRows(before, encoded)) {
      if (write.upload !== undefined) await endReservation(deps, write.upload.reservationId, { stored: false });
      return { stored: before, isNew: false };
    }
    const written = await whileReserved(deps, write, encoded.sizeBytes, async (held) => {
      await stampObjects(deps.sql, new Map([[encoded.sha256, encoded.sizeBytes]]), deps.clock.nowMs());
      await deps.objects.putFile(encoded.sha256, encoded.file.path, encoded.sizeBytes);
      return record(deps, write, encoded, held);
    });
    if (written.isNew) deps.bus.tell({ kind: 'dataset.changed', artifactId });
    return written;
  } finally {
    await encoded.file.dispose();
  }
}

interface Reserved {
  readonly id: string;
  readonly accountId: Holder;
}

/** Without an upload token the reservation ends here where `work` has not used it. */
async function whileReserved(
  deps: WriteDeps,
  { artifactId, upload }: DatasetWrite,
  bytes: number,
  work: (reserved: Reserved) => Promise<WrittenDataset>,
): Promise<WrittenDataset> {
  const nowMs = deps.clock.nowMs();
  const id = upload?.reservationId ?? newId('blob');
  const expiresAtMs = upload?.reservedUntilMs ?? nowMs + LIMITS.storageReservationTtlMs;
  const accountId = await deps.sql.begin(async (tx) => {
    const holder = await requireArtifact(tx, artifactId);
    await reserve(tx, { id, bytes, expiresAtMs, accountId: holder }, nowMs);
    return holder;
  });
  // The caller needs the first failure; a reservation that cannot be ended now ends when it expires.
  const end = () => Promise.allSettled([endReservation(deps, id, { stored: true })]);
  try {
    const written = await work({ id, accountId });
    if (!written.isNew) await end();
    return written;
  } catch (error) {
    if (upload === undefined) await end();
    throw error;
  }
}

function record({ sql, clock }: WriteDeps, write: DatasetWrite, encoded: EncodedDataset, reserved: Reserved): Promise<WrittenDataset> {
  const { artifactId, name } = write;
  return sql.begin(async (tx) => {
    const holder = await requireArtifact(tx, artifactId);
    const floor = await lockFloor(tx, artifactId);
    const before = await readDataset(tx, artifactId, name);
    if (write.asker?.refusal !== undefined) throw write.asker.refusal;
    checkConditions(conditionState(before), write);
    if (before !== undefined && hasSameRows(before, encoded)) return { stored: before, isNew: false };
    if (before === undefined) await requireFew(tx, artifactId);
    const nowMs = clock.nowMs();
    const added = {
      name,
      version: (before?.version ?? floor.version) + 1,
      seq: floor.seq + 1,
      createdAtMs: Math.max(nowMs, (before?.createdAtMs ?? 0) + 1),
    };
    await insertVersion(tx, artifactId, added, encoded);
    await insertEvent(tx, artifactId, { ...added, isDeletion: false }, write.chain ?? []);
    const removedBytes = await deleteOldVersions(tx, artifactId, name, LIMITS.datasetVersionsKept);
    await settle(tx, holder, reserved, { bytes: encoded.sizeBytes, artifacts: 0 }, nowMs);
    await addRelease(tx, holder, removedBytes, nowMs);
    await write.alongside?.(tx);
    const { file: _file, ...content } = encoded;
    return { stored: { ...content, ...added }, isNew: true };
  });
}

/** Throws ARTIFACT_NOT_FOUND. */
async function requireArtifact(tx: Queries, artifactId: ArtifactId): Promise<Holder> {
  const holder = await holdArtifact(tx, artifactId);
  if (holder === undefined) throw new Failure('ARTIFACT_NOT_FOUND', { param: 'artifactId' });
  return holder;
}

/** Throws DATASET_LIMIT_EXCEEDED where the artifact has no room for one more. */
export async function requireFew(sql: Queries, artifactId: ArtifactId): Promise<void> {
  if ((await countDatasets(sql, artifactId)) >= LIMITS.datasetsMax) throw new Failure('DATASET_LIMIT_EXCEEDED', { param: 'dataset' });
}
