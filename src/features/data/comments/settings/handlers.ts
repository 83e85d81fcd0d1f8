/** Handlers of the comment settings, the people of an artifact, and read marks. */
import { assertMayRead, type CommentSettings, guestsMay } from '../../../../../actors/comments/comment-rules.ts';
import { checkConditions } from '../../../../../actors/json/json-conditions.ts';
import type { ActorRuntime } from '../../../../../actors/runtime/runtime.ts';
import { Failure } from '../../../../../protocol/core/errors.ts';
import type { UserId } from '../../../../../protocol/core/ids.ts';
import type { CommentSettingsUpdate } from '../../../../../protocol/data/comment-settings.ts';
import { bodyEtag } from '../../../../edge/answer.ts';
import type { ArtifactCall, Call, Handlers } from '../../../../edge/call.ts';
import type { ServiceDeps } from '../../../deps.ts';
import { accountsOf } from '../../../people/accounts/rules.ts';
import type { Identities } from '../../../people/identities/identities.ts';
import { type Caller, readerOf, readMembers, writerOf } from '../person.ts';
import { askComments, type CommentCall } from '../turns.ts';
import { raiseMark, readMark } from './rows.ts';

interface SettingsDeps extends Pick<ServiceDeps, 'sql' | 'bus'> {
  readonly runtime: Pick<ActorRuntime, 'ask'>;
  readonly identities: Identities;
}

type Ids = 'comments.getConfig' | 'comments.putConfig' | 'comments.people' | 'comments.unread' | 'comments.markRead';

export function commentSettingsHandlers(deps: SettingsDeps): Handlers<Ids> {
  return {
    'comments.getConfig': (call) => askComments(deps, call, ({ comments }) => settingsReply(comments.settings, call)),
    'comments.putConfig': async (call) => {
      const { artifactId } = call.params;
      try {
        return await askComments(deps, call, ({ comments }) => {
          checkConditions({ etag: settingsReply(comments.settings, call).etag }, call);
          return settingsReply(comments.configure(givenFields(call.body)), call);
        });
      } finally {
        // Cached pages contain these settings. A failed call may still have committed, so it drops them as well.
        deps.bus.tell({ artifactId, slugs: [call.head.slug], kind: 'artifact.changed' });
      }
    },
    'comments.people': async (call) => {
      const writers = await askComments(deps, call, ({ comments }) => {
        assertMayRead(comments.settings, call);
        return comments.writers();
      });
      const members = await readMembers(deps.sql, call, writers);
      const { id, own, name, type, role } = await writerOf(deps.identities, call);
      const people = members.map(({ email: _, ...person }) => person);
      return { reply: 'ok', body: { success: true, data: { people, you: { id, ids: [...own], name, type, role } } } };
    },
    'comments.unread': async (call) => {
      requireReader(call);
      const seq = await readMark(deps.sql, call.params.artifactId, accountsOf(call.principal));
      return unreadReply(deps, call, seq);
    },
    'comments.markRead': async (call) => {
      const userId = requireReader(call);
      const { artifactId } = call.params;
      const { latestSeq } = await askComments(deps, call, ({ comments }) => {
        assertMayRead(comments.settings, call);
        return comments.unread(readerOf(call), 0);
      });
      // A mark beyond the latest comment would also cover comments that do not exist yet.
      await raiseMark(deps.sql, artifactId, userId, Math.min(call.body.seq ?? latestSeq, latestSeq));
      return unreadReply(deps, call, await readMark(deps.sql, artifactId, accountsOf(call.principal)));
    },
  };
}

function settingsReply(settings: CommentSettings, { head }: Pick<ArtifactCall, 'head'>) {
  const body = { success: true, data: presentSettings(settings, head.folder?.guestComments ?? false) } as const;
  return { reply: 'ok', body, etag: bodyEtag(body) } as const;
}

function presentSettings({ guestComments, ...settings }: CommentSettings, guestsByFolder: boolean) {
  const guestCommentsEffective = guestsMay({ guestComments }, guestsByFolder);
  return { ...settings, ...(guestComments !== null && { guestComments }), guestCommentsEffective };
}

/** An undefined value would overwrite the current setting. */
function givenFields(update: CommentSettingsUpdate): Partial<CommentSettings> {
  return Object.fromEntries(Object.entries(update).filter(([, value]) => value !== undefined));
}

/** Throws AUTH_REQUIRED: read marks belong to accounts, because only an account identifies the same reader later. */
function requireReader({ principal }: Pick<Call, 'principal'>): UserId {
  if (principal.kind === 'user') return principal.userId;
  throw new Failure('AUTH_REQUIRED', { message: 'Read marks are kept for accounts only.', hint: 'Send a token of an account.' });
}

async function unreadReply(deps: SettingsDeps, call: Caller & CommentCall, seq: number) {
  const found = await askComments(deps, call, ({ comments }) => {
    assertMayRead(comments.settings, call);
    return comments.unread(readerOf(call), seq);
  });
  return { reply: 'ok', body: { success: true, data: { ...found, seq } } } as const;
}
