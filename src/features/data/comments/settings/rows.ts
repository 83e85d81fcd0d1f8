/** The SQL of read marks. */
import type { ArtifactId, UserId } from '../../../../../protocol/core/ids.ts';
import type { Queries } from '../../../deps.ts';
import type { Accounts } from '../../../people/accounts/rules.ts';

/** The seq up to which a person has read, with any linked account; 0 when they have read nothing. */
export async function readMark(sql: Queries, artifactId: ArtifactId, accounts: Accounts): Promise<number> {
  const [row] = await sql<{ seq: number | null }[]>`
    select max(seq) as seq from comment_read where artifact_id = ${artifactId} and user_id = any(${accounts as UserId[]})`;
  return row?.seq ?? 0;
}

/** Never lowers the mark: with several devices the one that has read furthest counts. */
export async function raiseMark(sql: Queries, artifactId: ArtifactId, userId: UserId, seq: number): Promise<void> {
  await sql`
    insert into comment_read (artifact_id, user_id, seq) values (${artifactId}, ${userId}, ${seq})
    on conflict (artifact_id, user_id) do update set seq = greatest(comment_read.seq, excluded.seq)`;
}
