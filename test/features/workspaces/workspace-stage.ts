/** People with proved addresses, and a workspace with each role, for the tests of workspaces. */
import type { TestEasel, TestUser } from '../../support/easel.ts';
import { json, post } from '../../support/requests.ts';

export interface Person extends TestUser {
  readonly email: string;
}

/** An account that has proved an address, before it has called anything. */
export async function person(easel: TestEasel, name: string): Promise<Person> {
  const user = await easel.newUser();
  const email = `${name}.${user.userId.slice(-6)}@example.com`;
  await easel.sql`update account set email = ${email}, name = ${name} where id = ${user.userId}`;
  return { ...user, email };
}

export interface Stage {
  readonly id: string;
  readonly slug: string;
  readonly owner: Person;
  readonly admin: Person;
  readonly member: Person;
  readonly stranger: Person;
}

export async function workspaceOf(easel: TestEasel, owner: Person, name: string): Promise<{ readonly id: string; readonly slug: string }> {
  const made = await easel.fetch('/v1/workspaces', { token: owner.token, ...post({ name }) });
  if (made.status !== 201) throw new Error(`the workspace was not made: ${await made.text()}`);
  return json(made);
}

export async function stageOf(easel: TestEasel, name: string): Promise<Stage> {
  const [owner, admin, member, stranger] = [
    await person(easel, 'olive'),
    await person(easel, 'adam'),
    await person(easel, 'mia'),
    await person(easel, 'sam'),
  ];
  const { id, slug } = await workspaceOf(easel, owner, name);
  for (const [who, role] of [
    [admin, 'admin'],
    [member, 'member'],
  ] as const) {
    const added = await easel.fetch(`/v1/workspaces/${id}/members`, { token: owner.token, ...post({ email: who.email, role }) });
    if (added.status !== 201) throw new Error(`${role} was not added: ${await added.text()}`);
  }
  return { id, slug, owner, admin, member, stranger };
}

/** What the audit has of a workspace, oldest first: action, actor and target. */
export async function auditOf(easel: TestEasel, workspaceId: string): Promise<[string, string | null, string | null][]> {
  const rows = await easel.sql<{ action: string; actor_name: string | null; target_name: string | null }[]>`
    select action, actor_name, target_name from audit_entry where workspace_id = ${workspaceId} order by at_ms, ctid`;
  return rows.map(({ action, actor_name, target_name }) => [action, actor_name, target_name]);
}

/** The code in the last invitation that was sent to an address. */
export async function codeFor(easel: TestEasel, email: string): Promise<string> {
  const [mail] = await easel.sql<{ text_body: string }[]>`
    select text_body from mail_outbox where recipient = ${email} and kind = 'invite' order by created_at_ms desc, ctid desc limit 1`;
  return /[/]invite[/]([a-z0-9-]+)/.exec(mail?.text_body ?? '')?.[1] ?? '';
}
