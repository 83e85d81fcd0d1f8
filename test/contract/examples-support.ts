/** Prepares what the examples of support need. */
import { newId, type TicketAttachmentId } from '../../protocol/core/ids.ts';
import { sentFileUrl } from '../../src/features/business/support/attachments.ts';
import { SigningKey } from '../../src/storage/signing-key.ts';
import type { TestEasel, TestUser } from '../support/easel.ts';
import { post } from '../support/requests.ts';
import { signedBy } from '../support/signed.ts';

/** What these examples need of the world of `examples.ts`. */
interface World {
  readonly easel: TestEasel;
  readonly owner: TestUser;
  readonly viewer: TestUser;
  readonly artifactId: string;
}

interface Arranged {
  readonly ids?: Readonly<Record<string, string>>;
  readonly params?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

// biome-ignore lint/suspicious/noExplicitAny: the examples say what the answer holds.
async function sent({ easel, owner }: World, path: string, body: unknown, method = 'POST'): Promise<any> {
  const reply = await easel.fetch(path, { ...post(body), method, token: owner.token });
  if (!reply.ok) throw new Error(`${path} answered ${reply.status}: ${await reply.text()}`);
  return reply.json();
}

async function ticket(world: World): Promise<{ readonly ids: { readonly ticket: string } }> {
  const made = await sent(world, '/v1/support/tickets', { subject: 'The map stays empty', body: 'It shows no streets.' });
  return { ids: { ticket: made.ticket.id } };
}

/** Who has proved an address does no work for a message. */
async function chat(world: World): Promise<{ readonly secret: string }> {
  await world.easel.sql`update account set email = ${`${world.owner.userId}@example.com`} where id = ${world.owner.userId}`;
  await sent(world, `/v1/data/${world.artifactId}/support/_config`, { enabled: true, greeting: '' }, 'PUT');
  return (await sent(world, `/v1/data/${world.artifactId}/support`, { text: 'Is it open on Mondays?' })).data;
}

/** One that the owner answers, because it came from their page. */
async function answered(world: World): Promise<{ readonly ids: { readonly ticket: string } }> {
  await chat(world);
  const [row] = await world.easel.sql<{ id: string }[]>`select id from ticket where artifact_id = ${world.artifactId}`;
  return { ids: { ticket: row?.id ?? '' } };
}

async function draft(world: World): Promise<Arranged> {
  const { ids } = await answered(world);
  const { message } = await sent(world, `/v1/support/tickets/${ids.ticket}/reply`, { body: 'It is.', draft: true });
  return { ids: { ...ids, ticketMessage: message.id } };
}

async function attachment(world: World): Promise<{ readonly ids: { readonly ticket: string; readonly ticketAttachment: string } }> {
  const { ids } = await answered(world);
  const { easel, owner } = world;
  const uploaded = await easel.fetch('/v1/support/attachments?filename=map.txt', { method: 'POST', token: owner.token, body: 'a map' });
  const { attachment: file } = (await uploaded.json()) as { attachment: { id: string } };
  await sent(world, `/v1/support/tickets/${ids.ticket}/reply`, { body: 'See the map.', attachment_ids: [file.id] });
  return { ids: { ...ids, ticketAttachment: file.id } };
}

async function sentFile(world: World): Promise<Arranged> {
  const { ids } = await attachment(world);
  const { sql } = world.easel;
  await sql`
    update ticket_message set mail_id = ${newId('mail')}
    where id = (select message_id from ticket_attachment where id = ${ids.ticketAttachment})`;
  const id = ids.ticketAttachment as TicketAttachmentId;
  const url = sentFileUrl('', await new SigningKey(sql, 'ticket_file_key').bytes(), id);
  return { params: { attachmentId: id, signature: url.split('/').at(-1) ?? '' } };
}

function signedJson(body: unknown) {
  return ({ easel }: World): Arranged => signed(easel, Buffer.from(JSON.stringify(body)), 'application/json');
}

function signed(easel: TestEasel, body: Buffer, type: string): Arranged {
  return { body, headers: { 'content-type': type, 'easel-signature': signedBy(easel, body) } };
}

const MAIL = [
  'From: Grace <grace@example.com>',
  'To: support@example.com',
  'Subject: The map stays empty',
  'Message-ID: <1@example.com>',
  '',
  'It shows no streets.',
  '',
].join('\r\n');

export function supportArrangements<W extends World>({ workspace }: { workspace: (world: W) => Promise<Arranged> }) {
  return {
    'support.create': workspace,
    'support.list': async (world: W) => ({ ids: (await ticket(world)).ids }),
    'support.get': ticket,
    'support.messages': ticket,
    'support.message': ticket,
    'support.status': ticket,
    'support.reply': answered,
    'support.priority': answered,
    'support.approveDraft': draft,
    'support.deleteDraft': draft,
    'support.assign': async (world: W) => {
      await world.easel.sql`update account set is_staff = true where id = ${world.viewer.userId}`;
      return answered(world);
    },
    'support.upload': () => ({ body: Buffer.from('a map') }),
    'support.attachment': attachment,
    'support.sentFile': sentFile,
    'support.inboundEmail': ({ easel }: W) => signed(easel, Buffer.from(MAIL), 'message/rfc822'),
    'support.inboundChat': signedJson({ thread: 'C042/171', from: 'Grace', text: 'The map stays empty.' }),
    'support.inboundChatReplies': signedJson({ thread: 'C042/171' }),
    'pageChat.challenge': async (world: W) => {
      await chat(world);
      return {};
    },
    'pageChat.write': async (world: W) => {
      await chat(world);
      return {};
    },
    'pageChat.read': async (world: W) => ({ body: { secret: (await chat(world)).secret } }),
  };
}
