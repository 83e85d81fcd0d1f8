/** The SQL of `person_export` and `person_deletion`, and of the functions that find what names a person. */
import type { PersonDeletionId, PersonExportId, UserId } from '../../../../protocol/core/ids.ts';
import type { PageKey } from '../../../edge/paging.ts';
import type { Queries } from '../../deps.ts';
import type { Holding } from './holdings.ts';

export interface FileReceipt {
  readonly file: string;
  readonly rows: number | null;
  readonly bytes: number;
  /** Lowercase hex. */
  readonly sha256: string;
  /** There is more than an export may have. */
  readonly is_cut?: boolean;
}

export interface ExportRow {
  readonly id: PersonExportId;
  readonly user_id: UserId | null;
  readonly asked_by: UserId | null;
  readonly status: 'queued' | 'running' | 'done' | 'failed';
  readonly error: string | null;
  readonly created_at_ms: number;
  readonly finished_at_ms: number | null;
  readonly expires_at_ms: number | null;
  readonly size_bytes: number | null;
  readonly sha256: string | null;
  readonly receipt: readonly FileReceipt[] | null;
}

function exportColumns(sql: Queries) {
  return sql`
    e.id, e.user_id, e.asked_by, e.status, e.error, e.created_at_ms, e.finished_at_ms, e.expires_at_ms, e.size_bytes,
    encode(e.sha256, 'hex') as sha256, e.receipt`;
}

/** Null where one of this person is under way. */
export async function insertExport(
  tx: Queries,
  {
    id,
    userId,
    askedBy,
    nowMs,
  }: { readonly id: PersonExportId; readonly userId: UserId; readonly askedBy: UserId; readonly nowMs: number },
): Promise<boolean> {
  const made = await tx`
    insert into person_export (id, user_id, asked_by, status, due_at_ms, created_at_ms)
    select ${id}, ${userId}, ${askedBy}, 'queued', ${nowMs}, ${nowMs}
    where not exists (
      select from person_export e join account a on a.id = e.user_id join account me on me.person_id = a.person_id
      where me.id = ${userId} and e.status in ('queued', 'running')
    )
    on conflict do nothing`;
  return made.count > 0;
}

export async function readExport(sql: Queries, id: PersonExportId): Promise<ExportRow | null> {
  const [row] = await sql<ExportRow[]>`select ${exportColumns(sql)} from person_export e where e.id = ${id}`;
  return row ?? null;
}

/** Newest first. `accounts` null: of everybody. */
export function listExports(sql: Queries, accounts: readonly UserId[] | null, after: PageKey, rowsMax: number) {
  return sql<ExportRow[]>`
    select ${exportColumns(sql)} from person_export e
    where (${accounts as UserId[] | null}::text[] is null or e.user_id = any(${accounts as UserId[] | null}::text[]))
      and (e.created_at_ms, e.id) < (${after.number}, ${after.id})
    order by e.created_at_ms desc, e.id desc limit ${rowsMax}`;
}

export async function countExports(sql: Queries, accounts: readonly UserId[] | null): Promise<number> {
  const [row] = await sql<{ total: number }[]>`
    select count(*)::int as total from person_export e
    where ${accounts as UserId[] | null}::text[] is null or e.user_id = any(${accounts as UserId[] | null}::text[])`;
  return row?.total ?? 0;
}

/** `fence`: the number of this claim; what is reported with an older one changes nothing. */
export interface ExportClaim {
  readonly id: PersonExportId;
  readonly userId: UserId | null;
  readonly fence: number;
  readonly tries: number;
}

export async function claimExport(sql: Queries, nowMs: number, leaseMs: number): Promise<ExportClaim | null> {
  const [row] = await sql<ExportClaim[]>`
    update person_export set status = 'running', fence = fence + 1, tries = tries + 1,
      lease_ends_at = clock_timestamp() + ${leaseMs}::int * interval '1 ms'
    where id = (
      select id from person_export
      where due_at_ms <= ${nowMs} and (lease_ends_at is null or lease_ends_at <= clock_timestamp())
      order by due_at_ms limit 1 for update skip locked
    )
    returning id, user_id as "userId", fence, tries`;
  return row ?? null;
}

/** False where the claim is lost. */
export async function holdExport(sql: Queries, { id, fence }: ExportClaim, leaseMs: number): Promise<boolean> {
  const { count } = await sql`
    update person_export set lease_ends_at = clock_timestamp() + ${leaseMs}::int * interval '1 ms'
    where id = ${id} and fence = ${fence} and status = 'running'`;
  return count > 0;
}

export async function endExport(
  tx: Queries,
  { id, fence }: ExportClaim,
  done: {
    readonly sizeBytes: number;
    readonly sha256: string;
    readonly receipt: readonly FileReceipt[];
    readonly nowMs: number;
    readonly expiresAtMs: number;
  },
): Promise<boolean> {
  const { count } = await tx`
    update person_export set status = 'done', error = null, due_at_ms = null, lease_ends_at = null, finished_at_ms = ${done.nowMs},
      expires_at_ms = ${done.expiresAtMs}, size_bytes = ${done.sizeBytes}, sha256 = decode(${done.sha256}, 'hex'),
      receipt = ${tx.json(done.receipt as never)}
    where id = ${id} and fence = ${fence}`;
  return count > 0;
}

/** `nextAtMs` null: it is not tried again. */
export async function failExport(
  sql: Queries,
  { id, fence }: ExportClaim,
  error: string,
  nextAtMs: number | null,
  nowMs: number,
): Promise<void> {
  await sql`
    update person_export set status = ${nextAtMs === null ? 'failed' : 'queued'}, error = ${error.slice(0, 500)}, due_at_ms = ${nextAtMs},
      lease_ends_at = null, finished_at_ms = ${nextAtMs === null ? nowMs : null}
    where id = ${id} and fence = ${fence}`;
}

/** The object goes with the next sweep of what nothing names. */
export async function forgetExports(sql: Queries, nowMs: number, failedBeforeMs: number): Promise<number> {
  const gone = await sql`
    delete from person_export where expires_at_ms <= ${nowMs} or (status = 'failed' and created_at_ms <= ${failedBeforeMs})`;
  return gone.count;
}

export interface PersonRows {
  /** Where the row is in its table. */
  readonly at: string;
  /** JSON text. */
  readonly row: string;
}

/** Whom an export or a deletion is about. Addresses are in lowercase. */
export interface Subject {
  readonly accounts: readonly UserId[];
  readonly addresses: readonly string[];
}

function wantedBy({ how }: Holding, { accounts, addresses }: Subject): string[] {
  return how === 'is' ? [...accounts] : how === 'is_address' ? [...addresses] : [...accounts, ...addresses];
}

/** Beyond `beyond`, without secrets. */
export function readPersonRows(sql: Queries, holding: Holding, subject: Subject, beyond: string, rowsMax: number) {
  const { table, column, how, account } = holding;
  return sql<PersonRows[]>`
    select r.at, r.data::text as row
    from person_rows(${table}, ${column}, ${how}, ${wantedBy(holding, subject)}::text[], ${account ?? null}::text, ${subject.accounts as UserId[]}::text[], ${beyond}::tid, ${rowsMax}::int) r`;
}

/** How many rows it has removed; fewer than `rowsMax` when none is left. */
export async function removePersonRows(tx: Queries, holding: Holding, subject: Subject, rowsMax: number): Promise<number> {
  const { table, column, how, account } = holding;
  const [row] = await tx<{ count: number }[]>`
    select remove_person_rows(${table}, ${column}, ${how}, ${wantedBy(holding, subject)}::text[], ${account ?? null}::text, ${subject.accounts as UserId[]}::text[], ${rowsMax}::int) as count`;
  return row?.count ?? 0;
}

export async function blankPersonRows(tx: Queries, holding: Holding, subject: Subject, rowsMax: number): Promise<number> {
  const { table, column, how, account, replacement } = holding;
  const [row] = await tx<{ count: number }[]>`
    select blank_person_rows(${table}, ${column}, ${how}, ${wantedBy(holding, subject)}::text[], ${account ?? null}::text, ${subject.accounts as UserId[]}::text[], ${replacement ?? null}::text, ${rowsMax}::int) as count`;
  return row?.count ?? 0;
}

/** All accounts of the person of this one, with their proved addresses in lowercase. */
export async function readSubject(sql: Queries, userId: UserId): Promise<{ readonly accounts: UserId[]; readonly addresses: string[] }> {
  const rows = await sql<{ id: UserId; email: string | null }[]>`
    select p.id, lower(p.email) as email from account a join account p on p.person_id = a.person_id where a.id = ${userId} order by p.id`;
  return { accounts: rows.map(({ id }) => id), addresses: [...new Set(rows.flatMap(({ email }) => email ?? []))] };
}

export interface StepReceipt {
  readonly step: string;
  readonly removed: number;
  readonly kept: number;
}

export interface DeletionRow {
  readonly id: PersonDeletionId;
  readonly user_id: UserId | null;
  readonly asked_by: UserId | null;
  readonly heir_id: UserId | null;
  readonly status: 'waiting' | 'running' | 'done' | 'failed' | 'canceled';
  readonly error: string | null;
  readonly created_at_ms: number;
  readonly due_at_ms: number;
  readonly finished_at_ms: number | null;
  readonly subject_sha256: string;
  readonly receipt: readonly StepReceipt[];
}

function deletionColumns(sql: Queries) {
  return sql`
    d.id, d.user_id, d.asked_by, d.heir_id, d.status, d.error, d.created_at_ms, d.due_at_ms, d.finished_at_ms,
    encode(d.subject_sha256, 'hex') as subject_sha256, d.receipt`;
}

export interface NewDeletion {
  readonly id: PersonDeletionId;
  readonly userId: UserId;
  readonly askedBy: UserId;
  readonly heirId: UserId | null;
  readonly dueAtMs: number;
  readonly subjectSha256: Buffer;
  readonly nowMs: number;
}

/** False where the deletion of this person is wanted already. */
export async function insertDeletion(tx: Queries, spec: NewDeletion): Promise<boolean> {
  const made = await tx`
    insert into person_deletion (id, user_id, asked_by, heir_id, wants_heir, status, next_at_ms, created_at_ms, due_at_ms, subject_sha256)
    select ${spec.id}, ${spec.userId}, ${spec.askedBy}, ${spec.heirId}, ${spec.heirId !== null}, 'waiting', ${spec.dueAtMs}, ${spec.nowMs}, ${spec.dueAtMs}, ${spec.subjectSha256}
    where not exists (
      select from person_deletion d join account a on a.id = d.user_id join account me on me.person_id = a.person_id
      where me.id = ${spec.userId} and d.status in ('waiting', 'running', 'failed')
    )
    on conflict do nothing`;
  return made.count > 0;
}

export async function readDeletion(sql: Queries, id: PersonDeletionId): Promise<DeletionRow | null> {
  const [row] = await sql<DeletionRow[]>`select ${deletionColumns(sql)} from person_deletion d where d.id = ${id}`;
  return row ?? null;
}

/** Newest first. */
export function listDeletions(sql: Queries, after: PageKey, rowsMax: number) {
  return sql<DeletionRow[]>`
    select ${deletionColumns(sql)} from person_deletion d where (d.created_at_ms, d.id) < (${after.number}, ${after.id})
    order by d.created_at_ms desc, d.id desc limit ${rowsMax}`;
}

export async function countDeletions(sql: Queries): Promise<number> {
  const [row] = await sql<{ total: number }[]>`select count(*)::int as total from person_deletion`;
  return row?.total ?? 0;
}

/** False where it has begun, is done, or was canceled before. Whom it removes is written when it begins. */
export async function cancelDeletion(tx: Queries, id: PersonDeletionId, nowMs: number): Promise<boolean> {
  const { count } = await tx`
    update person_deletion set status = 'canceled', next_at_ms = null, finished_at_ms = ${nowMs}
    where id = ${id} and (status = 'waiting' or (status = 'failed' and accounts = '{}'))`;
  return count > 0;
}

/**
 * Asks anew for a deletion of one of these accounts that has failed: with this heir, at once where it has begun, else when it is due. Answers its
 * id; null where none has failed.
 */
export async function renewDeletion(
  tx: Queries,
  accounts: readonly UserId[],
  { heirId, dueAtMs, nowMs }: Pick<NewDeletion, 'heirId' | 'dueAtMs' | 'nowMs'>,
): Promise<PersonDeletionId | null> {
  const [row] = await tx<{ id: PersonDeletionId }[]>`
    update person_deletion set heir_id = ${heirId}, wants_heir = ${heirId !== null}, tries = 0,
      status = case when accounts = '{}' then 'waiting' else 'failed' end,
      due_at_ms = case when accounts = '{}' then ${dueAtMs} else due_at_ms end,
      next_at_ms = case when accounts = '{}' then ${dueAtMs} else ${nowMs}::bigint end
    where user_id = any(${accounts as UserId[]}::text[]) and status = 'failed' returning id`;
  return row?.id ?? null;
}

/** Whether a deletion has begun to remove this account, and is not done. */
export async function isBeingRemoved(sql: Queries, userId: UserId): Promise<boolean> {
  const rows = await sql`
    select 1 from person_deletion where ${userId} = any(accounts) and status in ('running', 'failed') limit 1`;
  return rows.length > 0;
}

export interface DeletionClaim {
  readonly id: PersonDeletionId;
  readonly userId: UserId | null;
  readonly heirId: UserId | null;
  readonly wantsHeir: boolean;
  readonly fence: number;
  readonly tries: number;
  readonly accounts: readonly UserId[];
  readonly addresses: readonly string[];
  readonly receipt: readonly StepReceipt[];
}

export async function claimDeletion(sql: Queries, nowMs: number, leaseMs: number): Promise<DeletionClaim | null> {
  const [row] = await sql<DeletionClaim[]>`
    update person_deletion set status = 'running', fence = fence + 1, tries = tries + 1,
      lease_ends_at = clock_timestamp() + ${leaseMs}::int * interval '1 ms'
    where id = (
      select id from person_deletion
      where next_at_ms <= ${nowMs} and (lease_ends_at is null or lease_ends_at <= clock_timestamp())
      order by next_at_ms limit 1 for update skip locked
    )
    returning id, user_id as "userId", heir_id as "heirId", wants_heir as "wantsHeir", fence, tries, accounts, addresses, receipt`;
  return row ?? null;
}

/** Whom it removes, written before the first step. */
export async function writeSubject(
  tx: Queries,
  { id, fence }: Pick<DeletionClaim, 'id' | 'fence'>,
  { accounts, addresses }: { readonly accounts: readonly UserId[]; readonly addresses: readonly string[] },
): Promise<void> {
  await tx`
    update person_deletion set accounts = ${accounts as UserId[]}::text[], addresses = ${addresses as string[]}::text[]
    where id = ${id} and fence = ${fence}`;
}

/** Throws where the claim is lost: another process goes on. Call it first in the transaction of each part of a step. */
export async function holdDeletion(tx: Queries, { id, fence }: Pick<DeletionClaim, 'id' | 'fence'>, leaseMs: number): Promise<void> {
  const { count } = await tx`
    update person_deletion set lease_ends_at = clock_timestamp() + ${leaseMs}::int * interval '1 ms'
    where id = ${id} and fence = ${fence} and status = 'running'`;
  if (count === 0) throw new LostClaim();
}

export class LostClaim extends Error {
  override readonly name = 'LostClaim';
}

/** What a part of a step has done is added up, so that nothing is counted twice when the step is tried again. */
export async function noteStep(
  tx: Queries,
  { id, fence }: Pick<DeletionClaim, 'id' | 'fence'>,
  receipt: readonly StepReceipt[],
): Promise<void> {
  await tx`update person_deletion set receipt = ${tx.json(receipt as never)} where id = ${id} and fence = ${fence}`;
}

/** Names nobody from now on. */
export async function endDeletion(tx: Queries, { id, fence }: Pick<DeletionClaim, 'id' | 'fence'>, nowMs: number): Promise<void> {
  await tx`
    update person_deletion set status = 'done', error = null, next_at_ms = null, lease_ends_at = null, finished_at_ms = ${nowMs},
      user_id = null, accounts = '{}', addresses = '{}'
    where id = ${id} and fence = ${fence}`;
}

/** It goes on where it has stopped, after a while or when an administrator asks anew; `nextAtMs` null: only then. */
export async function failDeletion(
  sql: Queries,
  { id, fence }: Pick<DeletionClaim, 'id' | 'fence'>,
  error: string,
  nextAtMs: number | null,
): Promise<void> {
  await sql`
    update person_deletion set status = 'failed', error = ${error.slice(0, 500)}, next_at_ms = ${nextAtMs}, lease_ends_at = null
    where id = ${id} and fence = ${fence}`;
}
