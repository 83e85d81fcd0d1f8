/** Answers who may what by asking the code that decides, and says why by its reasons. */
import type { z } from 'zod';
import {
  type AgentPrincipal,
  ANONYMOUS,
  type ArtifactHead,
  decide,
  type Person,
  type Principal,
  type Reason,
  RIGHTS,
  rightsOfPerson,
} from '../../../../actors/access/access.ts';
import { SCOPES } from '../../../../protocol/core/endpoint.ts';
import type { AgentId, TokenId, UserId, WorkspaceId } from '../../../../protocol/core/ids.ts';
import { ABILITIES, type accessReason } from '../../../../protocol/sharing/explain.ts';
import { dateTime } from '../../../platform/date-time.ts';

export type Ability = (typeof ABILITIES)[number];
export type Can = Readonly<Record<Ability, boolean>>;
type ReasonReply = z.input<typeof accessReason>;

const NEEDS = { view: 'view', comment: 'comment:write', edit: 'edit' } as const;
const BITS = { view: RIGHTS.see, comment: RIGHTS.comment, edit: RIGHTS.edit } as const;

export function canOf(head: ArtifactHead, principal: Principal): Can {
  const may = (ability: Ability) => decide(head, principal, NEEDS[ability], null) === 'allowed';
  return { view: may('view'), comment: may('comment'), edit: may('edit') };
}

/** Somebody as their session would be, whoever asks. */
export function asPrincipal(person: Person): Principal {
  const [userId = '' as UserId] = person.accounts;
  return { kind: 'user', userId, person, tokenId: '' as TokenId, tokenKind: 'session', isAdmin: false };
}

/** An agent of the workspace with every scope. */
export function asAgent(workspaceId: WorkspaceId): AgentPrincipal {
  return {
    kind: 'agent',
    tokenId: '' as TokenId,
    workspaceId,
    scopes: SCOPES,
    principalId: '' as AgentId,
    name: '',
    expiresAtMs: null,
  };
}

/** `direct`: the account that was asked about; what its linked ones have is told without their ids. */
export function reasonsOf(head: ArtifactHead, person: Person, direct: UserId | null): ReasonReply[] {
  const reasons: Reason[] = [];
  rightsOfPerson(head, person, reasons);
  const told = reasons.map((reason): ReasonReply => ({ ...toldOf(head, reason, direct), gives: abilitiesIn(reason.rights) }));
  const open = ABILITIES.filter((ability) => canOf(head, ANONYMOUS)[ability]);
  if (open.length > 0) told.push({ rule: 'public', source: { type: 'visibility', visibility: head.visibility }, gives: open });
  return told;
}

function abilitiesIn(rights: number): Ability[] {
  return ABILITIES.filter((ability) => (rights & BITS[ability]) !== 0);
}

function toldOf(head: ArtifactHead, reason: Reason, direct: UserId | null): Omit<ReasonReply, 'gives'> {
  switch (reason.rule) {
    case 'owner':
      return { rule: reason.account === direct ? 'direct' : 'linked', source: { type: 'owner' } };
    case 'collaborator': {
      const role = (reason.rights & RIGHTS.data) === 0 ? 'viewer' : 'editor';
      return { rule: reason.account === direct ? 'direct' : 'linked', source: { type: 'collaborator', role } };
    }
    case 'role':
      return { rule: 'role', source: { type: 'workspace', id: reason.workspaceId, role: reason.role } };
    case 'grant': {
      const { id, resourceId, shareeId, capability, expiresAtMs } = reason.grant;
      const isItself = resourceId === head.id;
      return {
        rule: isItself ? 'grant' : 'folder',
        source: {
          ...{
            type: 'grant',
            id,
            resource_type: isItself ? 'artifact' : 'folder',
            resource_id: resourceId,
            sharee_id: shareeId,
            capability,
          },
          expires_at: expiresAtMs === null ? null : dateTime(expiresAtMs),
        },
      };
    }
    default:
      return reason satisfies never;
  }
}
