/** Pages that are not for everybody, and people with roles on them. */
import type { ArtifactId, UserId } from '../../../../protocol/core/ids.ts';
import { callData, type DataArtifact, publishArtifact } from '../../../support/data-client.ts';
import type { TestEasel, TestUser } from '../../../support/easel.ts';
import { PageVisitor, type SignedInVisitor } from '../../../support/page-visitor.ts';

export interface ViewStage {
  readonly easel: TestEasel;
  /** Publishes with a token; nobody signs in as this account. */
  readonly owner: TestUser;
}

let people = 0;

/** Somebody with an account of their own. */
export async function somebody(easel: TestEasel): Promise<SignedInVisitor> {
  people += 1;
  // Each takes codes by mail, of which one network gets few in an hour.
  easel.clock.advance(3600 * 1000);
  return PageVisitor.signedIn(easel, `person${people}@example.com`);
}

export async function privatePage({ easel, owner }: ViewStage): Promise<DataArtifact> {
  const page = await publishArtifact(easel, owner);
  await callData(easel, page, 'PUT', '/json/shown', { token: owner.token, body: 1 });
  return page;
}

export async function patchPage({ easel, owner }: ViewStage, { id }: { readonly id: ArtifactId }, body: object): Promise<void> {
  const init = { method: 'PATCH', body: JSON.stringify(body), headers: { 'content-type': 'application/json' }, token: owner.token };
  const reply = await easel.fetch(`/v1/artifacts/${id}`, init);
  if (reply.status !== 200) throw new Error(await reply.text());
}

/** Gives a role, or takes it with null, as the endpoints of collaborators do. */
export async function share(stage: ViewStage, page: DataArtifact, userId: string, role: 'viewer' | 'editor' | null): Promise<void> {
  await stage.easel.sql`delete from collaborator where artifact_id = ${page.id} and user_id = ${userId}`;
  if (role !== null) {
    await stage.easel.sql`
      insert into collaborator (artifact_id, user_id, role, added_at_ms) values (${page.id}, ${userId}, ${role}, 0)`;
  }
  // A change that is told, so that what is open hears of it.
  await patchPage(stage, page, { name: `Changed ${Math.random()}` });
}

/** A page and somebody who is on it as themselves. */
export async function visited(stage: ViewStage, role: 'viewer' | 'editor' = 'viewer') {
  const page = await privatePage(stage);
  const visitor = await somebody(stage.easel);
  await share(stage, page, visitor.userId, role);
  await visitor.enter(page.slug);
  return { page, visitor };
}

/** A public page of somebody who signs in, with their token beside. */
export async function ownPage({ easel }: ViewStage) {
  const owner = await somebody(easel);
  await easel.sql`update account set tier = 'pro' where id = ${owner.userId}`;
  const { token } = JSON.parse((await owner.app.call('POST', '/v1/me/tokens', {})).text) as { token: string };
  const page = await publishArtifact(easel, { token, userId: owner.userId as UserId }, { visibility: 'public' });
  return { owner, page, token };
}
