/** Who sees drafts, which version is meant where none is named, and which can be deleted. */
import type { ArtifactHead, Principal, Role } from '../../../../actors/access/access.ts';
import { Failure } from '../../../../protocol/core/errors.ts';
import type { VersionId } from '../../../../protocol/core/ids.ts';
import { accountsOf } from '../../people/accounts/rules.ts';
import type { ArtifactRow } from '../artifacts/rows.ts';
import { mayReview } from '../reviews/rules.ts';
import type { Sight, VersionRow } from './rows.ts';

/** Editors see drafts. A version that waits for approval is seen by who may approve it and by the person or agent that made it, and served to nobody. */
export function sightOf({
  head,
  principal,
  role,
}: {
  readonly head: ArtifactHead;
  readonly principal: Principal;
  readonly role: Role;
}): Sight {
  const drafts = role === 'owner' || role === 'editor';
  const agent = principal.kind === 'agent' ? principal.principalId : null;
  return { drafts, waiting: mayReview(head, principal, role), accounts: accountsOf(principal), agent };
}

export function liveVersion(head: ArtifactHead): VersionId {
  if (head.liveVersionId === null) {
    throw new Failure('NO_VERSION', { hint: 'Nothing is live yet: name a version, or make one live with rollback.' });
  }
  return head.liveVersionId;
}

/** Throws VERSION_IN_USE. `versions`: how many the artifact has, drafts included. */
export function requireDeletable(row: Pick<ArtifactRow, 'pinned_version_id'>, version: VersionRow, versions: number): void {
  const name = `Version ${version.version_no}`;
  if (version.is_live) throw new Failure('VERSION_IN_USE', { message: `${name} is live.` });
  if (row.pinned_version_id === version.id) throw new Failure('VERSION_IN_USE', { message: `${name} is pinned.` });
  if (versions === 1) throw new Failure('VERSION_IN_USE', { message: `${name} is the only version.` });
}
