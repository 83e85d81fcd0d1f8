/** People with proved addresses and a private page, for the tests of sharing. */
import type { TestEasel, TestUser } from '../../support/easel.ts';
import { json, patch, post, published } from '../../support/requests.ts';
import { codeFor, ok } from '../../support/visitor.ts';
import { type Person, person } from '../workspaces/workspace-stage.ts';

export type { Person };

export interface Page {
  readonly id: string;
  readonly slug: string;
  readonly owner: Person;
}

let made = 0;

/** A private page of a new person. */
export async function pageOf(easel: TestEasel, owner?: Person, more: object = {}): Promise<Page> {
  const who = owner ?? (await person(easel, 'olive'));
  made += 1;
  const { id, slug } = await published(easel, who, { name: `The map ${made}`, ...more });
  return { id, slug, owner: who };
}

export class Sharing {
  readonly easel: TestEasel;

  constructor(easel: TestEasel) {
    this.easel = easel;
  }

  call(user: Pick<TestUser, 'token'>, path: string, init: RequestInit = {}): Promise<Response> {
    return this.easel.fetch(path, { token: user.token, ...init });
  }

  add(by: Person, { id }: Page, emails: readonly string[], role = 'viewer'): Promise<Response> {
    return this.call(by, `/v1/artifacts/${id}/collaborators`, post({ emails, role }));
  }

  /** What became of each address: status and role. */
  async added(by: Person, page: Page, emails: readonly string[], role = 'viewer'): Promise<[string, string][]> {
    const reply = await ok(this.add(by, page, emails, role));
    return (await json(reply)).results.map(({ status, role: has }: { status: string; role: string }) => [status, has]);
  }

  change(by: Pick<TestUser, 'token'>, { id }: Page, who: string, role: string): Promise<Response> {
    return this.call(by, `/v1/artifacts/${id}/collaborators/${encodeURIComponent(who)}`, patch({ role }));
  }

  remove(by: Pick<TestUser, 'token'>, { id }: Page, who: string): Promise<Response> {
    return this.call(by, `/v1/artifacts/${id}/collaborators/${encodeURIComponent(who)}`, { method: 'DELETE' });
  }

  transfer(by: Pick<TestUser, 'token'>, { id }: Page, email: string, more: object = {}): Promise<Response> {
    return this.call(by, `/v1/artifacts/${id}/transfer-ownership`, post({ email, confirm: true, ...more }));
  }

  /** Address, role and whether nobody has proved it yet, last added first. */
  async listed(by: Pick<TestUser, 'token'>, { id }: Page): Promise<[string | null, string, boolean][]> {
    const body = await json(await ok(this.call(by, `/v1/artifacts/${id}/collaborators?count=true`)));
    if (body.total !== body.collaborators.length) throw new Error(`${body.total} are counted and ${body.collaborators.length} listed`);
    return body.collaborators.map((one: { email: string | null; role: string; pending: boolean }) => [one.email, one.role, one.pending]);
  }

  /** What somebody may do with the page: `edit`, `view` or nothing. */
  async may(user: Pick<TestUser, 'token'>, { id }: Page): Promise<'edit' | 'view' | null> {
    if ((await this.call(user, `/v1/artifacts/${id}`)).status === 404) return null;
    const reply = await this.call(user, `/v1/data/${id}/json/mark`, { ...post({ by: 'me' }), method: 'PUT' });
    return reply.status < 300 ? 'edit' : 'view';
  }

  /** Proves one more address from an account without a sign-in. */
  async prove(user: Pick<TestUser, 'token'>, email: string): Promise<void> {
    this.easel.clock.advance(1);
    await this.easel.sql`delete from rate_window`;
    await ok(this.call(user, '/v1/auth/link-email/start', post({ email })));
    await ok(this.call(user, '/v1/auth/link-email/verify', post({ email, code: await codeFor(this.easel, email) })));
  }

  /** Makes two accounts one person, before either has called anything. */
  async link(one: TestUser, other: TestUser): Promise<void> {
    await this.easel.sql`
      update account set person_id = (select person_id from account where id = ${one.userId}) where id = ${other.userId}`;
  }

  async mails(email: string, kind: string): Promise<{ subject: string; text: string; html: string }[]> {
    return this.easel.sql<{ subject: string; text: string; html: string }[]>`
      select subject, text_body as text, html_body as html from mail_outbox
      where recipient = ${email} and kind = ${kind} order by created_at_ms, ctid`;
  }
}
