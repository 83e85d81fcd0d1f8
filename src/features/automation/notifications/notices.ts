/** Puts notices into the bell of accounts, in the transaction of what they tell about. */
import { type ArtifactId, type NoticeId, newId, type UserId } from '../../../../protocol/core/ids.ts';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import type { Fact } from '../../../platform/bus.ts';
import type { Queries } from '../../deps.ts';

export interface NewNotice {
  readonly userId: UserId;
  /** `<resource>.<what happened>`, for example `job.paused`. */
  readonly kind: string;
  readonly title: string;
  readonly body: string;
  /** A notice is hidden from who does not see its artifact any more, and goes with it. */
  readonly artifactId: ArtifactId | null;
  readonly url: string | null;
}

/**
 * Texts that are too long are cut, and notices to accounts or about artifacts that are gone are left out. Answers what to tell the bus after the
 * commit, so that an open bell shows them at once; without it they show at its next heartbeat.
 */
export async function addNotices(
  tx: Queries,
  notices: readonly NewNotice[],
  nowMs: number,
): Promise<Extract<Fact, { kind: 'notices.changed' }>> {
  const userIds = [...new Set(notices.map(({ userId }) => userId))].sort();
  if (notices.length > 0) {
    await insertNotices(tx, notices, nowMs);
    await deleteBeyond(tx, userIds, LIMITS.noticesPerAccountMax);
  }
  return { kind: 'notices.changed', userIds };
}

async function insertNotices(tx: Queries, notices: readonly NewNotice[], nowMs: number): Promise<void> {
  const ids: NoticeId[] = notices.map(() => newId('notice'));
  await tx`
    insert into notice (id, user_id, kind, title, body, artifact_id, url, created_at_ms)
    select n.id, n.user_id, n.kind, n.title, n.body, n.artifact_id, n.url, ${nowMs}
    from unnest(
      ${ids}::text[], ${notices.map(({ userId }) => userId)}::text[], ${notices.map(({ kind }) => cut(kind, LIMITS.noticeKindCharsMax))}::text[],
      ${notices.map(({ title }) => cut(title, LIMITS.noticeTitleCharsMax))}::text[],
      ${notices.map(({ body }) => cut(body, LIMITS.noticeBodyCharsMax))}::text[],
      ${notices.map(({ artifactId }) => artifactId)}::text[], ${notices.map(({ url }) => url)}::text[]
    ) as n (id, user_id, kind, title, body, artifact_id, url)
    join account a on a.id = n.user_id
    where n.artifact_id is null or exists (select from artifact r where r.id = n.artifact_id)`;
}

interface Replaced {
  readonly artifactId: ArtifactId;
  readonly kind: string;
}

/** Unread notices of these accounts of one kind about an artifact, which a newer one takes the place of. */
export async function deleteUnread(tx: Queries, userIds: readonly UserId[], { artifactId, kind }: Replaced): Promise<void> {
  await tx`
    delete from notice where user_id = any(${userIds as UserId[]}::text[]) and artifact_id = ${artifactId} and kind = ${kind} and read_at_ms is null`;
}

async function deleteBeyond(tx: Queries, userIds: readonly UserId[], keptMax: number): Promise<void> {
  await tx`
    delete from notice where id in (
      select beyond.id from unnest(${userIds as UserId[]}::text[]) as u (id) cross join lateral (
        select n.id from notice n where n.user_id = u.id order by n.created_at_ms desc, n.id offset ${keptMax}
      ) beyond)`;
}

/** At most so many characters that Postgres can store. */
function cut(text: string, charsMax: number): string {
  const storable = text.replaceAll('\u0000', '');
  const characters = [...storable];
  return characters.length <= charsMax ? storable : `${characters.slice(0, charsMax - 1).join('')}…`;
}
