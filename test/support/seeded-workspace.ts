/** A workspace with one member of each role. Make it before the first call by any of them. */
import type { WorkspaceId } from '../../protocol/core/ids.ts';
import type { TestEasel, TestUser } from './easel.ts';
import { newWorkspace } from './workspaces.ts';

export interface TestWorkspace {
  readonly id: WorkspaceId;
  readonly slug: string;
  readonly owner: TestUser;
  readonly admin: TestUser;
  readonly member: TestUser;
}

export async function seededWorkspace(easel: TestEasel, slug: string): Promise<TestWorkspace> {
  const [owner, admin, member] = await Promise.all([easel.newUser(), easel.newUser(), easel.newUser()]);
  const roles = { [owner.userId]: 'owner', [admin.userId]: 'admin', [member.userId]: 'member' } as const;
  return { id: await newWorkspace(easel, roles, { slug }), slug, owner, admin, member };
}
