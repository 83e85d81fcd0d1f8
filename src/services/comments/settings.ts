/** Handlers of the comment settings, of who is here, and of what each account has read. */
import { assertMayRead, type CommentSettings, guestsMay } from '../../../actors/comment-rules.ts';
import { Failure } from '../../../protocol/errors.ts';
import type { ArtifactId, UserId } from '../../../protocol/ids.ts';
import type { CommentSettingsUpdate } from '../../../protocol/schemas/comment.ts';
import type { Call, Handlers } from '../../edge/call.ts';
import { requireHead } from '../artifacts.ts';
import type { Queries, ServiceDeps } from '../deps.ts';
import type { Identities } from '../identities.ts';
import { askComments, type CommentDeps } from './handlers.ts';
import { readMembers, writerOf } from './person.ts';

interface SettingsDeps extends CommentDeps, Pick<ServiceDeps, 'notices'> {
  readonly identities: Identities;
}

type Ids = 'comments.getConfig' | 'comments.putConfig' | 'comments.people' | 'comments.unread' | 'comments.markRead';

export function commentSettingsHandlers(deps: SettingsDeps): Handlers<Ids> {
  return {
    'comments.getConfig': ({ params }) =>
      askComments(deps, params.artifactId, ({ comments }) => {
        return { reply: 'ok', body: { success: true, data: presentSettings(comments.settings) } } as const;
      }),
    'comments.putConfig': async ({ params: { artifactId }, body, head }) => {
      try {
        const settings = await askComments(deps, artifactId, ({ comments }) => comments.configure(named(body)));
        return { reply: 'ok', body: { success: true, data: presentSettings(settings) } };
      } finally {
        // Its pages say how they are commented on. Also where it is not known whether it was committed.
        deps.notices.emit({ artifactId, slugs: [requireHead(head).slug], kind: 'changed' });
      }
    },
    'comments.people': async (call) => {
      const writers = await askComments(deps, call.params.artifactId, ({ comments }) => {
        assertMayRead(comments.settings, call);
        return comments.writers();
      });
      const members = await readMembers(deps.sql, requireHead(call.head), call.role, writers);
      const { id, name, type, role } = await writerOf(deps.identities, call);
      const people = members.map(({ email: _, ...person }) => person);
      return { reply: 'ok', body: { success: true, data: { people, you: { id, name, type, role } } } };
    },
    'comments.unread': async (call) => {
      const userId = requireReader(call);
      const seq = await readMark(deps.sql, call.params.artifactId, userId);
      return unreadReply(deps, call, userId, seq);
    },
    'comments.markRead': async (call) => {
      const userId = requireReader(call);
      const { artifactId } = call.params;
      const { latestSeq } = await askComments(deps, artifactId, ({ comments }) => {
        assertMayRead(comments.settings, call);
        return comments.unread(userId, 0);
      });
      // What is not written yet cannot have been read.
      const seq = await writeMark(deps.sql, artifactId, userId, Math.min(call.body.seq ?? latestSeq, latestSeq));
      return unreadReply(deps, call, userId, seq);
    },
  };
}

function presentSettings({ guestComments, ...settings }: CommentSettings) {
  const guestCommentsEffective = guestsMay({ guestComments, ...settings });
  return { ...settings, ...(guestComments !== null && { guestComments }), guestCommentsEffective };
}

function named(update: CommentSettingsUpdate): Partial<CommentSettings> {
  return Object.fromEntries(Object.entries(update).filter(([, value]) => value !== undefined));
}

/** Throws AUTH_REQUIRED: only an account is the same reader tomorrow. */
function requireReader({ principal }: Pick<Call, 'principal'>): UserId {
  if (principal.kind === 'user') return principal.userId;
  throw new Failure('AUTH_REQUIRED', { message: 'Only accounts have what they have read kept.', hint: 'Send a token of an account.' });
}

async function unreadReply(
  deps: SettingsDeps,
  call: Pick<Call, 'role'> & { readonly params: { readonly artifactId: ArtifactId } },
  userId: UserId,
  seq: number,
) {
  const found = await askComments(deps, call.params.artifactId, ({ comments }) => {
    assertMayRead(comments.settings, call);
    return comments.unread(userId, seq);
  });
  return { reply: 'ok', body: { success: true, data: { ...found, seq } } } as const;
}

async function readMark(sql: Queries, artifactId: ArtifactId, userId: UserId): Promise<number> {
  const [row] = await sql<{ seq: number }[]>`select seq from comment_read where artifact_id = ${artifactId} and user_id = ${userId}`;
  return row?.seq ?? 0;
}

/** It never goes back: of two devices the one that has read further counts. */
async function writeMark(sql: Queries, artifactId: ArtifactId, userId: UserId, seq: number): Promise<number> {
  const [row] = await sql<{ seq: number }[]>`
    insert into comment_read (artifact_id, user_id, seq) values (${artifactId}, ${userId}, ${seq})
    on conflict (artifact_id, user_id) do update set seq = greatest(comment_read.seq, excluded.seq)
    returning seq`;
  return row?.seq ?? seq;
}
