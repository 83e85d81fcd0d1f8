/** Artifacts with people of every role, for the realtime tests. */

import type { TestEasel, TestUser } from '../support/easel.ts';
import { patch, published } from '../support/requests.ts';

export interface Stage {
  readonly artifactId: string;
  readonly owner: TestUser;
}

/** An artifact of a new account. */
export async function stage(
  easel: TestEasel,
  settings: { readonly visibility?: string; readonly allow_anon_collab?: boolean } = {},
): Promise<Stage> {
  // Public artifacts need a paid tier.
  const owner = await easel.newUser('team');
  const { id } = await published(easel, owner);
  if (Object.keys(settings).length > 0) await change(easel, { artifactId: id, owner }, settings);
  return { artifactId: id, owner };
}

export async function change(easel: TestEasel, { artifactId, owner }: Stage, settings: object): Promise<void> {
  const reply = await easel.fetch(`/v1/artifacts/${artifactId}`, { token: owner.token, ...patch(settings) });
  if (reply.status !== 200) throw new Error(`${reply.status}: ${await reply.text()}`);
  await reply.arrayBuffer();
}

export async function collaborator(easel: TestEasel, { artifactId }: Stage, role: 'editor' | 'viewer'): Promise<TestUser> {
  const user = await easel.newUser();
  await easel.sql`insert into collaborator (artifact_id, user_id, role, added_at_ms) values (${artifactId}, ${user.userId}, ${role}, 0)`;
  return user;
}
