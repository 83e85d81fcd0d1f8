/** The id of a workspace, for calls that take no slug. */
import type { Session } from './session.ts';

export async function workspaceIdOf(session: Session, workspace: string): Promise<string> {
  return (await session.api.workspaces.get({ params: { workspaceId: workspace }, signal: session.shell.signal })).body.id;
}
