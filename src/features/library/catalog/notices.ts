/** Tells a member in the bell that a note of the catalog is theirs now. */
import type { UserId, WorkspaceId } from '../../../../protocol/core/ids.ts';
import { type Locale, localeOf } from '../../../mail/templates/message.ts';
import type { Fact } from '../../../platform/bus.ts';
import { addNotices } from '../../automation/notifications/notices.ts';
import type { Queries } from '../../deps.ts';
import { toldAccount } from '../skills/notice-rows.ts';
import type { EntryRow } from './rows.ts';

interface Words {
  readonly title: (note: string) => string;
  readonly body: string;
}

const WORDS: Readonly<Record<Locale, Words>> = {
  en: {
    title: (note) => `The note "${note}" is yours now`,
    body: 'You own it in the catalog of the workspace: you may delete it, or give it to another member.',
  },
  es: {
    title: (note) => `La nota «${note}» ahora es tuya`,
    body: 'Eres su propietario en el catálogo del espacio de trabajo: puedes eliminarla o pasarla a otro miembro.',
  },
};

/** Nobody is told where it belongs to the workspace, or to who has decided it. `accounts`: of that person. Answers what to tell the bus after the commit. */
export async function tellOwner(
  tx: Queries,
  workspaceId: WorkspaceId,
  { id, name, owner_id }: Pick<EntryRow, 'id' | 'name' | 'owner_id'>,
  { accounts, nowMs }: { readonly accounts: readonly UserId[]; readonly nowMs: number },
): Promise<Fact> {
  const told = owner_id === null || accounts.includes(owner_id) ? [] : await toldAccount(tx, owner_id, workspaceId);
  const notices = told.map(({ user_id, own_locale, workspace_locale }) => {
    const { title, body } = WORDS[localeOf(own_locale, workspace_locale)];
    return {
      ...{ userId: user_id, kind: 'catalog.owner', title: title(name), body },
      ...{ artifactId: null, url: `/w/${workspaceId}/catalog/${id}` },
    };
  });
  return addNotices(tx, notices, nowMs);
}
