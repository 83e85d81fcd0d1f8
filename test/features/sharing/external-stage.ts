/** A workspace that may share with people outside, for the tests of sharing. */
import { expect } from 'vitest';
import type { TestEasel, TestUser } from '../../support/easel.ts';
import { json, patch, post, published } from '../../support/requests.ts';
import { type Person, person, type Stage, stageOf } from '../workspaces/workspace-stage.ts';

export type { Person } from '../workspaces/workspace-stage.ts';

export interface SharingStage extends Stage {
  /** Somebody outside who has proved an address. */
  readonly client: Person;
  readonly path: string;
}

export async function sharingStage(easel: TestEasel, name: string): Promise<SharingStage> {
  const stage = await stageOf(easel, name);
  await easel.sql`update account set tier = 'pro' where id = ${stage.owner.userId}`;
  await setFeature(easel, stage.id, true);
  return { ...stage, client: await person(easel, 'clara'), path: `/v1/workspaces/${stage.id}` };
}

export async function setFeature(easel: TestEasel, workspaceId: string, enabled: boolean | null): Promise<void> {
  const body = { features: { 'collab.external_sharing': enabled } };
  const reply = await easel.fetch(`/v1/workspaces/${workspaceId}/features`, { token: easel.adminToken, ...patch(body) });
  expect(reply.status).toBe(200);
}

/** Makes something and answers it; throws where that fails. */
export async function made(easel: TestEasel, by: Pick<TestUser, 'token'>, path: string, body: object) {
  const reply = await easel.fetch(path, { token: by.token, ...post(body) });
  const answer = await json(reply);
  if (reply.status > 201) throw new Error(`${path} answered ${reply.status}: ${JSON.stringify(answer)}`);
  return answer;
}

export function sharePerson(easel: TestEasel, { admin, path }: SharingStage, email: string, resource: object) {
  return made(easel, admin, `${path}/share-person`, { email, ...resource });
}

/** A private page of the owner in the workspace. */
export async function pageIn(easel: TestEasel, { id, owner }: SharingStage, body: object = {}) {
  return published(easel, owner, { workspace_id: id, visibility: 'private', ...body });
}

export async function statusOf(easel: TestEasel, who: Pick<TestUser, 'token'>, path: string): Promise<number> {
  const reply = await easel.fetch(path, { token: who.token });
  await reply.arrayBuffer();
  return reply.status;
}
