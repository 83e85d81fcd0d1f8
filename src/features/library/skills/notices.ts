/** Tells in the bell what becomes of a proposed change: its approvers that it is there, its author how it was decided. */
import type { UserId } from '../../../../protocol/core/ids.ts';
import { type Locale, localeOf } from '../../../mail/templates/message.ts';
import type { Fact } from '../../../platform/bus.ts';
import { addNotices, deleteUnread } from '../../automation/notifications/notices.ts';
import type { Queries } from '../../deps.ts';
import type { ChangeRow } from './change-rows.ts';
import { listApprovers, type Told, toldAccount } from './notice-rows.ts';
import type { SkillRow } from './rows.ts';

type Happened = 'proposed' | 'merged' | 'rejected';

interface Words {
  readonly title: Readonly<Record<Happened, (skill: string) => string>>;
  readonly body: Readonly<Record<Happened, (change: string, by: string) => string>>;
  readonly somebody: string;
}

const WORDS: Readonly<Record<Locale, Words>> = {
  en: {
    title: {
      proposed: (skill) => `A change of the skill "${skill}" is proposed`,
      merged: (skill) => `Your change of the skill "${skill}" was merged`,
      rejected: (skill) => `Your change of the skill "${skill}" was rejected`,
    },
    body: {
      proposed: (change, by) => `${by} proposes "${change}". You can merge it or reject it.`,
      merged: (change) => `"${change}" is part of the live version now.`,
      rejected: (change) => `"${change}" is not applied. You can propose another text.`,
    },
    somebody: 'Somebody',
  },
  es: {
    title: {
      proposed: (skill) => `Hay un cambio propuesto para la habilidad «${skill}»`,
      merged: (skill) => `Tu cambio de la habilidad «${skill}» se ha integrado`,
      rejected: (skill) => `Tu cambio de la habilidad «${skill}» se ha rechazado`,
    },
    body: {
      proposed: (change, by) => `${by} propone «${change}». Puedes integrarlo o rechazarlo.`,
      merged: (change) => `«${change}» ya forma parte de la versión publicada.`,
      rejected: (change) => `«${change}» no se aplica. Puedes proponer otro texto.`,
    },
    somebody: 'Alguien',
  },
};

/**
 * To every approver but its author. Whoever has not read of an earlier one of the skill reads of the newest alone: who proposes and withdraws again
 * and again pushes no other notices out of a bell. Answers what to tell the bus after the commit.
 */
export async function tellApprovers(tx: Queries, row: SkillRow, change: ChangeRow, nowMs: number): Promise<Fact> {
  const told = await listApprovers(tx, row, change.author_id);
  const userIds = told.map(({ user_id }) => user_id);
  await deleteUnread(tx, userIds, { artifactId: row.artifact_id, kind: 'skill.proposed' });
  return add(tx, row, change, 'proposed', told, nowMs);
}

/** To its author, unless they have decided themselves. `accounts`: of who has decided. Answers what to tell the bus after the commit. */
export async function tellAuthor(
  tx: Queries,
  row: SkillRow,
  change: ChangeRow,
  happened: 'merged' | 'rejected',
  { accounts, nowMs }: { readonly accounts: readonly UserId[]; readonly nowMs: number },
): Promise<Fact> {
  const { author_id } = change;
  const told = author_id === null || accounts.includes(author_id) ? [] : await toldAccount(tx, author_id, row.workspace_id);
  return add(tx, row, change, happened, told, nowMs);
}

function add(tx: Queries, row: SkillRow, change: ChangeRow, happened: Happened, told: readonly Told[], nowMs: number): Promise<Fact> {
  const url = row.workspace_id === null ? `/p/${row.artifact_id}` : `/w/${row.workspace_id}/skills/${row.id}`;
  const notices = told.map(({ user_id, own_locale, workspace_locale }) => {
    const { title, body, somebody } = WORDS[localeOf(own_locale, workspace_locale)];
    return {
      userId: user_id,
      kind: `skill.${happened}`,
      title: title[happened](row.name),
      body: body[happened](change.title, change.author_name || somebody),
      artifactId: row.artifact_id,
      url,
    };
  });
  return addNotices(tx, notices, nowMs);
}
