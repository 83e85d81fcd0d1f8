/** An artifact with people in every role, and helpers to comment on it. */
import type { ArtifactId } from '../../../../protocol/core/ids.ts';
import { type Answered, callData, type DataArtifact, publishArtifact } from '../../../support/data-client.ts';
import type { DatabaseKind } from '../../../support/database.ts';
import { startTestEasel, type TestEasel, type TestUser } from '../../../support/easel.ts';

export interface Stage {
  readonly easel: TestEasel;
  close(): Promise<void>;
}

export async function openStage(database?: DatabaseKind): Promise<Stage> {
  const easel = await startTestEasel(database === undefined ? {} : { database });
  return { easel, close: () => easel.close() };
}

/** A user with a username, by which others can mention them. */
export interface Named extends TestUser {
  readonly username: string;
  readonly email: string;
}

export interface Cast {
  readonly artifact: DataArtifact;
  readonly owner: Named;
  readonly editor: Named;
  readonly viewer: Named;
  readonly stranger: Named;
}

let people = 0;

async function named(easel: TestEasel, role: string): Promise<Named> {
  const user = await easel.newUser('pro');
  people += 1;
  const username = `${role}-${people}`;
  const email = `${username}@example.com`;
  await easel.sql`update account set username = ${username}, name = ${`The ${role}`}, email = ${email} where id = ${user.userId}`;
  return { ...user, username, email };
}

export async function cast(easel: TestEasel, visibility: 'public' | 'private' = 'public'): Promise<Cast> {
  const owner = await named(easel, 'owner');
  const editor = await named(easel, 'editor');
  const viewer = await named(easel, 'viewer');
  const stranger = await named(easel, 'stranger');
  const artifact = await publishArtifact(easel, owner, { visibility });
  await easel.sql`
    insert into collaborator (artifact_id, user_id, role, added_at_ms)
    values (${artifact.id}, ${editor.userId}, 'editor', 0), (${artifact.id}, ${viewer.userId}, 'viewer', 0)`;
  // A change over HTTP drops the cached head, which does not have the rows inserted above.
  const body = JSON.stringify({ name: 'Commented' });
  await easel.fetch(`/v1/artifacts/${artifact.id}`, {
    method: 'PATCH',
    token: owner.token,
    body,
    headers: { 'content-type': 'application/json' },
  });
  return { artifact, owner, editor, viewer, stranger };
}

type By = { readonly token?: string } | undefined;

/** Calls an endpoint below `…/comments`. */
export function ask(
  easel: TestEasel,
  { id }: { readonly id: string },
  by: By,
  method: string,
  path = '',
  body?: unknown,
): Promise<Answered> {
  return callData(easel, { id: id as ArtifactId }, method, `/comments${path}`, { token: by?.token, body });
}

/** The data of a successful answer; throws for any other. */
export async function must(answer: Answered | Promise<Answered>) {
  const { status, body } = await answer;
  if (status >= 300) throw new Error(`answered ${status}: ${JSON.stringify(body)}`);
  return body.data;
}

/** The status of an answer, followed by its code if it is an error. */
export async function outcome(answer: Promise<Answered>): Promise<string> {
  const { status, body } = await answer;
  return body.code === undefined ? String(status) : `${status} ${body.code}`;
}

/** Allows guests, registers one, and answers the guest's token. */
export async function guest(
  stage: Pick<Stage, 'easel'>,
  { artifact, owner }: Pick<Cast, 'artifact' | 'owner'>,
  email = 'gail@example.com',
  name = 'Gail',
): Promise<string> {
  const { easel } = stage;
  await must(ask(easel, artifact, owner, 'PUT', '/_config', { guestComments: true }));
  easel.clock.advance(1);
  await must(ask(easel, artifact, undefined, 'POST', '/_guest/start', { email, name }));
  const { guestToken } = await must(
    ask(easel, artifact, undefined, 'POST', '/_guest/verify', { email, code: await codeFor(easel, artifact, email) }),
  );
  return guestToken;
}

/** The code in the last mail to an address. The clock has moved since the one before: mails of one moment have no order. */
export async function codeFor(easel: TestEasel, artifact: Pick<DataArtifact, 'id'>, email: string): Promise<string> {
  const [mail] = await easel.sql<{ text_body: string }[]>`
    select text_body from mail_outbox where artifact_id = ${artifact.id} and recipient = ${email} and kind = 'guest_code'
    order by created_at_ms desc limit 1`;
  return mail?.text_body.slice(0, 6) ?? '';
}
