/** The SQL of `mail_batch`, and of its mails in the outbox. */
import { type ArtifactId, type DeliverableId, type MailBatchId, newId, type PersonId, type UserId } from '../../../../protocol/core/ids.ts';
import type { Tier } from '../../../../protocol/people/accounts.ts';
import type { PageKey } from '../../../edge/paging.ts';
import type { Statement } from '../../../storage/sql.ts';
import type { Queries } from '../../deps.ts';

export interface NewBatch {
  readonly artifactId: ArtifactId;
  readonly senderId: UserId | null;
  readonly purpose: 'page' | 'owner';
  readonly subject: string;
  readonly locale: string;
  readonly proofSha256: Uint8Array | null;
  readonly nowMs: number;
}

/** Null where its proof was used already. */
export async function insertBatch(tx: Queries, spec: NewBatch): Promise<MailBatchId | null> {
  const id = newId('mailBatch');
  const inserted = await tx`
    insert into mail_batch (id, artifact_id, sender_id, purpose, subject, locale, proof_sha256, created_at_ms)
    values (
      ${id}, ${spec.artifactId}, ${spec.senderId}, ${spec.purpose}, ${spec.subject}, ${spec.locale}, ${spec.proofSha256}, ${spec.nowMs})
    on conflict (proof_sha256) do nothing`;
  return inserted.count === 0 ? null : id;
}

export interface NewMail {
  readonly recipient: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string | null;
  readonly replyTo: string | null;
  readonly isSuppressed: boolean;
}

export async function insertMails(
  tx: Queries,
  { id, artifactId, purpose, nowMs }: { id: MailBatchId; artifactId: ArtifactId; purpose: NewBatch['purpose']; nowMs: number },
  mails: readonly NewMail[],
): Promise<void> {
  const rows = mails.map(({ recipient, subject, text, html, replyTo, isSuppressed }) => ({
    id: newId('mail'),
    batch_id: id,
    artifact_id: artifactId,
    kind: purpose === 'owner' ? 'notify_owner' : 'page',
    recipient,
    subject,
    text_body: isSuppressed ? null : text,
    html_body: isSuppressed ? null : html,
    reply_to: replyTo,
    next_attempt_at_ms: isSuppressed ? null : nowMs,
    suppressed_at_ms: isSuppressed ? nowMs : null,
    created_at_ms: nowMs,
  }));
  await tx`insert into mail_outbox ${tx(rows)}`;
}

export interface Sender {
  readonly personId: PersonId;
  /** Whether any account of the person has a proved address. */
  readonly isProved: boolean;
  /** The best of the person's accounts. */
  readonly tier: Tier;
}

export async function readSender(sql: Queries, userId: UserId): Promise<Sender | null> {
  const [row] = await sql<Sender[]>`
    select a.person_id as "personId", exists (select 1 from account p where p.person_id = a.person_id and p.email is not null) as "isProved",
      (select b.tier from account b where b.person_id = a.person_id order by array_position(array['team', 'pro', 'free'], b.tier) limit 1) as tier
    from account a where a.id = ${userId}`;
  return row ?? null;
}

/** The languages to write in, the first wanted first: of the sender, then of the artifact's workspace. */
export async function readLanguages(sql: Queries, artifactId: ArtifactId, senderId: UserId | null): Promise<readonly unknown[]> {
  const [row] = await sql<{ own: unknown; workspace: string | null }[]>`
    select (select s.metadata -> 'locale' from account s where s.id = ${senderId}) as own,
      (select w.locale from workspace w where w.id = r.workspace_id) as workspace
    from artifact r where r.id = ${artifactId}`;
  return [row?.own, row?.workspace];
}

export interface MailRow {
  readonly recipient: string;
  readonly status: 'queued' | 'sent' | 'failed' | 'suppressed';
  readonly failure: string | null;
  readonly attempts: number;
  readonly sent_at_ms: number | null;
}

export interface BatchRow {
  readonly id: MailBatchId;
  readonly artifact_id: ArtifactId;
  readonly sender_id: UserId | null;
  readonly purpose: NewBatch['purpose'];
  readonly subject: string;
  readonly created_at_ms: number;
  readonly mails: readonly MailRow[];
  readonly attachments: readonly {
    readonly file_id: DeliverableId;
    readonly filename: string;
    readonly size_bytes: number;
    readonly cid: string | null;
  }[];
}

function columns(sql: Queries): Statement {
  return sql`
    b.id, b.artifact_id, b.sender_id, b.purpose, b.subject, b.created_at_ms, (
      select coalesce(json_agg(json_build_object(
        'recipient', m.recipient, 'failure', m.failure, 'attempts', m.attempts, 'sent_at_ms', m.sent_at_ms,
        'status', case
          when m.sent_at_ms is not null then 'sent' when m.suppressed_at_ms is not null then 'suppressed'
          when m.next_attempt_at_ms is null then 'failed' else 'queued' end) order by m.recipient, m.id), '[]')
      from mail_outbox m where m.batch_id = b.id
    ) as mails, (
      select coalesce(json_agg(json_build_object(
        'file_id', f.deliverable_id, 'filename', f.filename, 'size_bytes', f.size_bytes, 'cid', f.cid) order by f.position), '[]')
      from mail_attachment f where f.batch_id = b.id
    ) as attachments`;
}

export async function readBatch(sql: Queries, id: MailBatchId): Promise<BatchRow | null> {
  const [row] = await sql<BatchRow[]>`select ${columns(sql)} from mail_batch b where b.id = ${id}`;
  return row ?? null;
}

/** Newest first. */
export function listBatches(sql: Queries, artifactId: ArtifactId, after: PageKey, rowsMax: number): Promise<BatchRow[]> {
  return sql<BatchRow[]>`
    select ${columns(sql)} from mail_batch b
    where b.artifact_id = ${artifactId} and (b.created_at_ms < ${after.number} or (b.created_at_ms = ${after.number} and b.id > ${after.id}))
    order by b.created_at_ms desc, b.id limit ${rowsMax}`;
}

export async function countBatches(sql: Queries, artifactId: ArtifactId): Promise<number> {
  const [row] = await sql<{ total: number }[]>`select count(*)::int as total from mail_batch where artifact_id = ${artifactId}`;
  return row?.total ?? 0;
}

/** Deletes those of which no mail is kept any more; answers how many. */
export async function deleteOldBatches(sql: Queries, createdBeforeMs: number): Promise<number> {
  return (
    await sql`
      delete from mail_batch b where b.created_at_ms <= ${createdBeforeMs}
        and not exists (select 1 from mail_outbox m where m.batch_id = b.id)`
  ).count;
}

export interface OwnerRow {
  readonly name: string;
  readonly takesVisitors: boolean;
  /** A proved address of the owner, or of the owner of the workspace that owns it; null where there is none. */
  readonly email: string | null;
  /** As the account's metadata has it. */
  readonly locale: unknown;
  readonly workspaceLocale: string | null;
}

/** Who owns a live artifact; null where there is none. */
export async function readOwner(sql: Queries, artifactId: ArtifactId): Promise<OwnerRow | null> {
  const [row] = await sql<OwnerRow[]>`
    select r.name, r.allow_anon_email as "takesVisitors", o.email, o.locale, w.locale as "workspaceLocale"
    from artifact r left join workspace w on w.id = r.workspace_id left join lateral (
      select a.email, a.metadata -> 'locale' as locale from account a
      left join workspace_member m on m.user_id = a.id and m.workspace_id = r.workspace_id and m.role = 'owner'
      where a.email is not null and a.person_id in (
        select p.person_id from account p where p.id = r.owner_id
        union all
        select p.person_id from workspace_member n join account p on p.id = n.user_id
        where r.owner_id is null and n.workspace_id = r.workspace_id and n.role = 'owner')
      order by (a.id = r.owner_id) desc nulls last, (m.user_id is not null) desc, a.created_at_ms, a.id limit 1
    ) o on true
    where r.id = ${artifactId} and r.deleted_at_ms is null`;
  return row ?? null;
}

export async function readNameOf(sql: Queries, artifactId: ArtifactId): Promise<string | null> {
  const [row] = await sql<{ name: string }[]>`select name from artifact where id = ${artifactId}`;
  return row?.name ?? null;
}
