/** Fetches one file and publishes what it becomes, as its source's maker would. */
import type { UserPrincipal } from '../../../../actors/access/access.ts';
import type { PublishRequest } from '../../../../protocol/artifacts/publish.ts';
import { Failure } from '../../../../protocol/core/errors.ts';
import type { ArtifactId } from '../../../../protocol/core/ids.ts';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import { sha256Of } from '../../artifacts/publish/contents.ts';
import { type Cargo, type PublishDeps, publish } from '../../artifacts/publish/publish.ts';
import { requireSizes } from '../../artifacts/publish/rules.ts';
import { type Publisher, publisherOf } from '../../artifacts/publish/target.ts';
import { type ReceiveDeps, receiveDataset } from '../../data/datasets/receive.ts';
import type { Queries } from '../../deps.ts';
import { publishRuleFor } from '../../workspaces/publish-policy/rules.ts';
import type { Converter } from './convert/converter.ts';
import { type KnownFile, kindOf, needsConversion } from './file-kinds.ts';
import { type Made, type MadeDataset, make } from './making.ts';
import { type DriveCalls, DriveFailure } from './providers/calls.ts';
import type { DriveProvider, RemoteFile } from './providers/provider.ts';
import {
  cut,
  LostClaim,
  MakerSuspended,
  NOT_CONNECTED,
  NOT_MEMBER,
  PATH_CHARS_MAX,
  type RunRecord,
  SourceChanged,
  StopRun,
} from './record.ts';
import { readSourceStanding, type SourceRow } from './rows.ts';
import { storedName } from './rules.ts';
import { type Claim, holdClaim, type ItemRow, putItem, setMark, setWhole } from './runs.ts';

export type TakeDeps = PublishDeps & ReceiveDeps & { readonly converter: Converter };

/** What all files of a run share. */
export interface Taking {
  readonly claim: Claim;
  readonly source: SourceRow;
  readonly provider: DriveProvider;
  readonly calls: DriveCalls;
  readonly record: RunRecord;
  readonly signal: AbortSignal;
  /** Whose access it goes by, as it is now. */
  readonly principal: () => UserPrincipal;
}

export interface FoundFile {
  readonly file: RemoteFile;
  readonly path: string;
  /** As it was stored before. */
  readonly item: ItemRow | undefined;
}

/** Of what a provider says of a content. */
const MARK_CHARS_MAX = 1000;

/** Says of a content whether it is the one that was stored, and in this way. */
export function markOf({ convert }: Pick<SourceRow, 'convert'>, { mark }: RemoteFile): string {
  return `${convert ? 'converted' : 'plain'} ${cut(mark, MARK_CHARS_MAX)}`;
}

/** Records what came of it. Throws `StopRun`, `LostClaim`, `MakerSuspended`, `SourceChanged`, the reason of the signal, and bugs. */
export async function takeFile(deps: TakeDeps, taking: Taking, found: FoundFile): Promise<void> {
  const { record, source } = taking;
  const { file, path } = found;
  const { convert } = source;
  if (file.form === 'none')
    return record.skip(path, 'UNSUPPORTED_TYPE', 'The drive gives this kind of file in no form that can be stored.');
  const named = kindOf(file.name, file.mime);
  if (file.form === 'bytes' && named === null) return record.skip(path, 'UNSUPPORTED_TYPE', 'Files of this type cannot be imported.');
  if (named !== null && needsConversion(named.kind) && !convert)
    return record.skip(path, 'CONVERSION_OFF', 'It would have to be converted; turn that on for the source.');
  if (file.sizeBytes !== null && file.sizeBytes > LIMITS.versionFileBytesMax) return record.skip(path, 'FILE_TOO_LARGE', tooLarge());
  try {
    const { bytes, exportedAs } = await taking.provider.download(taking.calls, file, { convert, bytesMax: LIMITS.versionFileBytesMax });
    const known = exportedAs === null ? named : kindOf(`.${exportedAs}`, '');
    if (known === null) return record.skip(path, 'UNSUPPORTED_TYPE', 'Files of this type cannot be imported.');
    await store(deps, taking, found, known, bytes);
  } catch (error) {
    noteFailure(taking, found, error);
  }
}

function tooLarge(): string {
  return `The file has more than ${LIMITS.versionFileBytesMax} bytes.`;
}

async function store(deps: TakeDeps, taking: Taking, found: FoundFile, known: KnownFile, bytes: Buffer): Promise<void> {
  const { record, source, claim, signal } = taking;
  const { file, path, item } = found;
  const name = storedName(file.name);
  const made = await make(deps.converter, { name, known, bytes, convert: source.convert }, signal);
  signal.throwIfAborted();
  const artifactId = await publishMade(deps, taking, found, made);
  if (artifactId === null) {
    if (item !== undefined) await setMark(deps.sql, claim, file.id, markOf(source, file));
    return record.skip(path, 'ARTIFACT_GONE', 'Its page here was deleted or may not be changed by you any more, so it is left alone.');
  }
  const warnings = [...made.warnings];
  let stored = 0;
  for (const dataset of made.datasets) {
    const message = await writeRows(deps, taking, artifactId, dataset);
    if (message === null) stored += 1;
    else warnings.push({ code: 'CONVERSION_FAILED', message });
  }
  // Where none of its rows are stored, the file is there as it was.
  const outcome = made.datasets.length > 0 && stored === 0 ? 'imported' : made.outcome;
  if (made.datasets.length > 0) await setWhole(deps.sql, claim, { remoteId: file.id, mark: markOf(source, file), outcome });
  record.counts[outcome] += 1;
  for (const { code, message } of warnings) record.tell(path, outcome, code, message);
}

/** Null where what was imported before is not there any more. */
async function publishMade(deps: TakeDeps, taking: Taking, { file, path, item }: FoundFile, made: Made): Promise<ArtifactId | null> {
  const { source, claim } = taking;
  const cargo = await cargoOf(made);
  const mark = made.datasets.length > 0 ? null : markOf(source, file);
  const publisher: Publisher = {
    ...publisherOf(taking.principal(), askerOf(deps, taking)),
    isUnmetered: true,
    record: async (tx, artifactId) => {
      if (!(await holdClaim(tx, claim))) throw new LostClaim();
      await requireStanding(tx, source);
      await putItem(tx, claim, { remoteId: file.id, path: cut(path, PATH_CHARS_MAX), mark, artifactId, outcome: made.outcome });
    },
  };
  const common = {
    entrypoint: 'index.html',
    draft: false,
    workspace_id: undefined,
    folder_id: undefined,
    label: undefined,
    note: undefined,
  };
  const name = storedName(file.name);
  const body: PublishRequest =
    item === undefined
      ? { ...common, name, workspace_id: source.workspace_id, folder_id: source.target_folder_id ?? undefined }
      : { ...common, artifact_id: item.artifact_id };
  try {
    return (await publish(deps, publisher, body, cargo)).artifactId;
  } catch (error) {
    if (item !== undefined && (await isOfGone(deps, publisher, source, error))) return null;
    throw error;
  }
}

/** Whether a page was moved elsewhere, given away or deleted. Where its publisher may publish nothing, the refusal says nothing of the page. */
async function isOfGone({ sql }: TakeDeps, { principal }: Publisher, { workspace_id }: SourceRow, error: unknown): Promise<boolean> {
  if (!(error instanceof Failure)) return false;
  if (error.code !== 'FORBIDDEN') return error.code === 'ARTIFACT_NOT_FOUND';
  return (await publishRuleFor(sql, workspace_id, principal)) !== 'prohibited';
}

/**
 * In the transactions that store something, because all this can end while a page of files is taken.
 * Throws `LostClaim`, `MakerSuspended`, `StopRun`, `SourceChanged`.
 */
async function requireStanding(tx: Queries, source: SourceRow): Promise<void> {
  const standing = await readSourceStanding(tx, source);
  if (standing === null) throw new LostClaim();
  if (standing.isSuspended) throw new MakerSuspended();
  if (!standing.isMember) throw new StopRun('NOT_ALLOWED', NOT_MEMBER);
  if (!standing.isConnected) throw new StopRun('CONNECTION_REVOKED', NOT_CONNECTED);
  if (!standing.isUnchanged) throw new SourceChanged();
}

/** Throws FILE_TOO_LARGE: the page around a file can be larger than the file. */
async function cargoOf({ files }: Made): Promise<Cargo> {
  const contents = new Map<string, Uint8Array>();
  const sized = [];
  for (const { path, mime, bytes } of files) {
    const sha256 = await sha256Of(bytes);
    contents.set(sha256, bytes);
    sized.push({ path, mime, sha256, sizeBytes: bytes.length });
  }
  requireSizes(sized, 'files');
  return { files: sized, contents, uploadId: null };
}

/** No call stands behind it: what is audited names the run. */
function askerOf({ clock }: TakeDeps, { principal, claim }: Taking) {
  return { refusal: undefined, principal: principal(), address: '', requestId: claim.id, nowMs: clock.nowMs() };
}

/** Why the rows are not stored; null where they are. */
async function writeRows(
  deps: TakeDeps,
  taking: Taking,
  artifactId: ArtifactId,
  { name, bytes, ...form }: MadeDataset,
): Promise<string | null> {
  const asker = askerOf(deps, taking);
  try {
    // The claim is not held here: a publish of this run holds it while it waits for the counters that this transaction has.
    const alongside = (tx: Queries) => requireStanding(tx, taking.source);
    await receiveDataset(deps, asker, { artifactId, name, asker, alongside }, { chunks: oneChunk(bytes), ...form });
    return null;
  } catch (error) {
    if (!(error instanceof Failure) || !OF_THE_ROWS.has(error.code)) throw error;
    return `Its rows are not stored: ${error.message}`;
  }
}

const OF_THE_ROWS: ReadonlySet<string> = new Set(['INVALID_REQUEST', 'ROW_TOO_LARGE', 'FILE_TOO_LARGE', 'DATASET_LIMIT_EXCEEDED']);

async function* oneChunk(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

/** Goes on with the next file where only this one is at fault; throws otherwise. */
function noteFailure({ record, signal }: Taking, { path }: FoundFile, error: unknown): void {
  signal.throwIfAborted();
  if (error instanceof DriveFailure) {
    if (error.kind === 'rate' || error.kind === 'revoked') throw error;
    if (error.kind === 'too_large') record.skip(path, 'FILE_TOO_LARGE', tooLarge());
    else record.fail(path, 'DOWNLOAD_FAILED', error.message);
    return;
  }
  if (!(error instanceof Failure)) throw error;
  if (error.code === 'ACCOUNT_STORAGE_FULL') throw new StopRun('STORAGE_QUOTA_EXCEEDED', error.message);
  if (error.code === 'FORBIDDEN' || error.code === 'FOLDER_NOT_FOUND')
    throw new StopRun('NOT_ALLOWED', `Files may not be published there any more: ${error.message}`);
  record.fail(path, error.code, error.message);
}
