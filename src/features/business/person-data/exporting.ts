/** Writes the zip of one person: rows of every table that names them, their artifacts, their files, and a receipt that lists it all. */
import { createHash } from 'node:crypto';
import { RETENTION } from '../../../../protocol/business/retention.ts';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import { dateTime } from '../../../platform/date-time.ts';
import type { Spool } from '../../../storage/spool.ts';
import type { Exports } from '../../artifacts/archive/export.ts';
import { writeZip, type ZipEntry } from '../../artifacts/archive/zip-writer.ts';
import { stampObjects } from '../../artifacts/publish/rows.ts';
import type { ServiceDeps } from '../../deps.ts';
import { listOwnedArtifacts, listOwnedFiles, listTicketFiles, listTicketMessages, listWrittenComments } from './export-rows.ts';
import { HOLDINGS, type Holding } from './holdings.ts';
import { type ExportClaim, endExport, type FileReceipt, holdExport, LostClaim, readPersonRows, readSubject, type Subject } from './rows.ts';

export interface ExportingDeps extends Pick<ServiceDeps, 'sql' | 'clock' | 'objects'> {
  readonly spool: Spool;
  readonly archives: Pick<Exports, 'begin'>;
}

export const EXPORT_LEASE_MS = 120_000;
const KEPT_MS = RETENTION['person exports'].keptMs;
const ROWS_AT_ONCE = 500;
const FIRST_ROW = '(0,0)';
/** For rows in the order of what they are in, and of their ids. */
const FIRST_WITHIN: readonly [string, string] = ['', ''];
const placeWithin = ({ within, id }: { readonly within: string; readonly id: string; readonly row: string }) => [within, id] as const;

/** Read beside the list: the steps of a deletion that deal with these are not by a column alone. */
const BESIDE: readonly Holding[] = [
  { table: 'account', column: 'id', how: 'is', exported: true, end: 'removed' },
  { table: 'account_usage', column: 'user_id', how: 'is', exported: true, end: 'removed' },
  { table: 'artifact', column: 'owner_id', how: 'is', exported: true, end: 'removed' },
  { table: 'audit_entry', column: 'actor_id', how: 'is', exported: true, end: 'blanked' },
];

/** Throws where the account is gone, and `LostClaim` where another process has taken it over. */
export async function writeExport(deps: ExportingDeps, claim: ExportClaim, signal: AbortSignal): Promise<void> {
  const { sql, clock, spool, objects } = deps;
  const subject = claim.userId === null ? { accounts: [], addresses: [] } : await readSubject(sql, claim.userId);
  if (subject.accounts.length === 0) throw new Error('The account is gone.');
  const receipt: FileReceipt[] = [];
  const held = async () => {
    signal.throwIfAborted();
    if (!(await holdExport(sql, claim, EXPORT_LEASE_MS))) throw new LostClaim();
  };
  const file = await spool.receive(writeZip(entries(deps, subject, receipt, held), clock.nowMs()));
  try {
    const nowMs = clock.nowMs();
    await held();
    await stampObjects(sql, new Map([[file.sha256, file.sizeBytes]]), nowMs);
    await objects.putFile(file.sha256, file.path, file.sizeBytes);
    const done = { sizeBytes: file.sizeBytes, sha256: file.sha256, receipt, nowMs, expiresAtMs: nowMs + KEPT_MS };
    if (!(await endExport(sql, claim, done))) throw new LostClaim();
  } finally {
    await file.dispose();
  }
}

/** An entry is read to its end before the next is asked for, so the receipt is whole when it is written as the last. */
async function* entries(
  deps: ExportingDeps,
  subject: Subject,
  receipt: FileReceipt[],
  held: () => Promise<void>,
): AsyncGenerator<ZipEntry> {
  const { sql, objects, clock } = deps;
  const counted = (name: string, chunks: AsyncIterable<Uint8Array>, counts: Counts = {}) => ({
    name,
    chunks: withReceipt(name, chunks, counts, receipt),
  });
  for (const holding of [...BESIDE, ...HOLDINGS.filter(({ exported }) => exported)]) {
    await held();
    const first = await readPersonRows(sql, holding, subject, FIRST_ROW, 1);
    if (first.length === 0) continue;
    const counts = { rows: 0, isCut: false };
    yield counted(`data/${holding.table}.by_${holding.column}.jsonl`, lines(sql, holding, subject, counts), counts);
  }
  const written = { rows: 0, isCut: false };
  const comments = pages(FIRST_WITHIN, (beyond) => listWrittenComments(sql, subject.accounts, beyond, ROWS_AT_ONCE), placeWithin, written);
  yield counted('data/comment.by_author.jsonl', comments, written);
  const said = { rows: 0, isCut: false };
  const messages = pages(FIRST_WITHIN, (beyond) => listTicketMessages(sql, subject, beyond, ROWS_AT_ONCE), placeWithin, said);
  yield counted('data/ticket_message.of_tickets.jsonl', messages, said);
  const { accounts, addresses } = subject;
  const files = {
    assets: await listOwnedFiles(sql, accounts),
    tickets: await listTicketFiles(sql, accounts, addresses),
  };
  for (const [folder, all] of Object.entries(files)) {
    for (const { id, filename, sha256, size_bytes } of all) {
      await held();
      yield counted(`${folder}/${id}-${filename.replace(/[^\w.-]+/g, '_')}`, objects.readRange(sha256, 0, size_bytes - 1));
    }
  }
  for (const { id, slug } of await listOwnedArtifacts(sql, subject.accounts)) {
    await held();
    const archive = await deps.archives.begin(id);
    yield counted(`artifacts/${slug}.zip`, archive.pieces);
  }
  const made = { made_at: dateTime(clock.nowMs()), accounts: subject.accounts, files: receipt };
  yield { name: 'receipt.json', bytes: Buffer.from(JSON.stringify(made, null, 2)) };
}

interface Counts {
  rows?: number;
  isCut?: boolean;
}

async function* withReceipt(
  file: string,
  chunks: AsyncIterable<Uint8Array>,
  counts: Counts,
  receipt: FileReceipt[],
): AsyncGenerator<Uint8Array> {
  const hash = createHash('sha256');
  let bytes = 0;
  for await (const chunk of chunks) {
    hash.update(chunk);
    bytes += chunk.byteLength;
    yield chunk;
  }
  receipt.push({ file, rows: counts.rows ?? null, bytes, sha256: hash.digest('hex'), ...(counts.isCut === true && { is_cut: true }) });
}

function lines(sql: ServiceDeps['sql'], holding: Holding, subject: Subject, counts: Required<Counts>): AsyncGenerator<Buffer> {
  return pages(
    FIRST_ROW,
    (beyond) => readPersonRows(sql, holding, subject, beyond, ROWS_AT_ONCE),
    ({ at }) => at,
    counts,
  );
}

/** `page` answers the next rows beyond a place, `placeOf` the place of a row. */
async function* pages<Row extends { readonly row: string }, Place>(
  first: Place,
  page: (beyond: Place) => PromiseLike<readonly Row[]>,
  placeOf: (row: Row) => Place,
  counts: Required<Counts>,
): AsyncGenerator<Buffer> {
  let beyond = first;
  for (;;) {
    const rows = await page(beyond);
    const last = rows.at(-1);
    if (last === undefined) return;
    counts.rows += rows.length;
    yield Buffer.from(rows.map(({ row }) => `${row}\n`).join(''));
    if (rows.length < ROWS_AT_ONCE) return;
    if (counts.rows >= LIMITS.personExportRowsMax) {
      counts.isCut = true;
      return;
    }
    beyond = placeOf(last);
  }
}
