/** The SQL of what an export has beside the rows that name the person by a column. */
import type { ArtifactId, UserId } from '../../../../protocol/core/ids.ts';
import type { Queries } from '../../deps.ts';

/** Live ones, in the order of their ids. */
export function listOwnedArtifacts(sql: Queries, accounts: readonly UserId[]) {
  return sql<{ readonly id: ArtifactId; readonly slug: string }[]>`
    select id, slug from artifact where owner_id = any(${accounts as UserId[]}::text[]) and deleted_at_ms is null order by id`;
}

export interface OwnedFile {
  readonly id: string;
  readonly filename: string;
  /** Lowercase hex. */
  readonly sha256: string;
  readonly size_bytes: number;
}

export function listOwnedFiles(sql: Queries, accounts: readonly UserId[]) {
  return sql<OwnedFile[]>`
    select id, filename, encode(sha256, 'hex') as sha256, size_bytes from asset_file
    where owner_id = any(${accounts as UserId[]}::text[]) order by id`;
}

/** Files that were sent with tickets of the person, or by the person. */
export function listTicketFiles(sql: Queries, accounts: readonly UserId[], addresses: readonly string[]) {
  return sql<OwnedFile[]>`
    select f.id, f.filename, encode(f.sha256, 'hex') as sha256, f.size_bytes from ticket_attachment f
    where f.uploader_id = any(${accounts as UserId[]}::text[]) or f.message_id in (
      select m.id from ticket_message m join ticket t on t.id = m.ticket_id
      where not m.is_draft
        and (t.requester_id = any(${accounts as UserId[]}::text[]) or (t.requester_id is null and lower(t.requester_email) = any(${addresses as string[]}::text[]))))
    order by f.id`;
}

/**
 * The messages of the person's tickets, and those that the person wrote in tickets of others; no drafts of an answer. `beyond`: ticket and id of
 * the last one.
 */
export function listTicketMessages(
  sql: Queries,
  { accounts, addresses }: { readonly accounts: readonly UserId[]; readonly addresses: readonly string[] },
  beyond: readonly [string, string],
  rowsMax: number,
) {
  return sql<{ readonly within: string; readonly id: string; readonly row: string }[]>`
    select m.ticket_id as within, m.id, (to_jsonb(m) - array['proof_sha256', 'mail_message_id', 'mail_id'])::text as row
    from ticket_message m join ticket t on t.id = m.ticket_id
    where not m.is_draft and (m.ticket_id, m.id) > (${beyond[0]}, ${beyond[1]})
      and (m.author_id = any(${accounts as UserId[]}::text[]) or t.requester_id = any(${accounts as UserId[]}::text[])
        or (t.requester_id is null and lower(t.requester_email) = any(${addresses as string[]}::text[])))
    order by m.ticket_id, m.id limit ${rowsMax}`;
}

/** What the person has written, wherever. `beyond`: artifact and id of the last one. */
export function listWrittenComments(sql: Queries, accounts: readonly UserId[], beyond: readonly [string, string], rowsMax: number) {
  return sql<{ readonly within: string; readonly id: string; readonly row: string }[]>`
    select c.artifact_id as within, c.id, to_jsonb(c)::text as row from comment c
    where c.data->>'authorId' = any(${accounts as UserId[]}::text[]) and (c.artifact_id, c.id) > (${beyond[0]}, ${beyond[1]})
    order by c.artifact_id, c.id limit ${rowsMax}`;
}
