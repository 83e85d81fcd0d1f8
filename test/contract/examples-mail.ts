/** Preparations for the endpoints of mail and templates. */
import { newId } from '../../protocol/core/ids.ts';
import { UnsubscribeLinks } from '../../src/mail/unsubscribe-links.ts';
import type { Config } from '../../src/platform/config.ts';
import type { TestEasel, TestUser } from '../support/easel.ts';

interface World {
  readonly easel: TestEasel;
  readonly owner: TestUser;
  readonly artifactId: string;
}

type Call = (easel: TestEasel, user: TestUser, method: string, path: string, body?: unknown) => Promise<Response>;

/** `World`: that of the suite, which has more. */
export function mailArrangements<W extends World>({
  call,
  workspace,
}: {
  readonly call: Call;
  readonly workspace: (world: W) => Promise<{ ids: { workspace: string } }>;
}) {
  const proved = async ({ easel, owner }: W) => {
    await easel.sql`update account set email = ${`${owner.userId}@example.com`} where id = ${owner.userId}`;
    return {};
  };
  const sent = async (world: W) => {
    const { easel, artifactId, owner } = world;
    const id = newId('mailBatch');
    await easel.sql`
      insert into mail_batch (id, artifact_id, sender_id, purpose, subject, locale, created_at_ms)
      values (${id}, ${artifactId}, ${owner.userId}, 'page', 'The new map', 'en', 0)`;
    await easel.sql`
      insert into mail_outbox (id, artifact_id, batch_id, recipient, subject, text_body, kind, attempts, sent_at_ms, created_at_ms)
      values (${newId('mail')}, ${artifactId}, ${id}, 'grace@example.com', 'The new map', 'It is there.', 'page', 1, 0, 0)`;
    return { ids: { mailBatch: id } };
  };
  const template = async ({ easel, owner, artifactId }: W) => {
    const body = {
      name: 'News',
      subject: 'News for {{data.name}}',
      html: '<p>Hello {{data.name}}</p>',
      variables: [{ name: 'name', type: 'string', required: true }],
      artifact_id: artifactId,
    };
    const reply = await call(easel, owner, 'POST', '/v1/templates', body);
    const { data } = (await reply.json()) as { data: { template: { id: string } } };
    return { ids: { template: data.template.id } };
  };
  const ownMail = async (world: W) => {
    const { ids } = await workspace(world);
    const body = { subject: 'Welcome', html: '<a href="{{data.url}}">Join</a>', text_body: 'Join: {{data.url}}' };
    await call(world.easel, world.owner, 'PUT', `/v1/workspaces/${ids.workspace}/mails/invite/en`, body);
    return { ids };
  };
  const link = async ({ easel, artifactId }: W) => {
    const links = new UnsubscribeLinks({ sql: easel.sql, config: { baseUrl: '' } as Config });
    const url = await links.urlFor(artifactId as never, 'grace@example.com');
    return { params: { token: url.slice('/unsubscribe/'.length) } };
  };
  return {
    'email.send': proved,
    'email.list': sent,
    'email.get': sent,
    'email.notifyOwner': proved,
    'templates.list': template,
    'templates.get': template,
    'templates.update': template,
    'templates.delete': template,
    'templates.preview': template,
    'templates.rehearse': template,
    'systemMails.list': workspace,
    'systemMails.get': ownMail,
    'systemMails.put': ownMail,
    'systemMails.reset': ownMail,
    'pages.unsubscribe': link,
    'pages.unsubscribeForm': async (world: W) => ({
      ...(await link(world)),
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    }),
  };
}
