/** No subject, name, address, value of a template or text can add a header to a mail, or an address to its recipients. */
import { simpleParser } from 'mailparser';
import { createTransport } from 'nodemailer';
import { describe, expect, test } from 'vitest';
import { emailSend, ownerNotice } from '../../protocol/automation/email.ts';
import { newId } from '../../protocol/core/ids.ts';
import { renderTemplate } from '../../src/features/automation/templates/render.ts';
import { messageOf, type OutgoingMail } from '../../src/mail/transports.ts';
import { headersOf } from '../features/automation/email/mail-stage.ts';

const FROM = 'Easel <easel@pages.example>';
const BREAKS = ['\r\n', '\n', '\r', '\u2028', '\u2029', '\u0085', '\u0000', '\r\n ', '\n\t'];
const EVIL = [
  ...BREAKS.map((end) => `Hello${end}Bcc: victim@example.net${end}X-Evil: 1${end}${end}<p>body</p>`),
  '=?UTF-8?Q?Hello=0D=0ABcc:_victim@example.net?=',
  '=?utf-8?B?SGVsbG8NCkJjYzogdmljdGltQGV4YW1wbGUubmV0?=',
  'a@example.com, victim@example.net',
  'Ada <victim@example.net>',
  '"a@example.com" <victim@example.net>',
  `${'x'.repeat(2000)}\r\nBcc: victim@example.net`,
];
const KNOWN = [
  ...['from', 'to', 'reply-to', 'subject', 'message-id', 'date', 'auto-submitted', 'list-unsubscribe', 'list-unsubscribe-post'],
  ...['mime-version', 'content-type', 'content-transfer-encoding'],
];

const OF_A_FILE = ['content-type', 'content-transfer-encoding', 'content-disposition', 'content-id'];

async function rawOf(more: Partial<OutgoingMail>): Promise<string> {
  const mail: OutgoingMail = {
    id: newId('mail'),
    recipient: 'ada@example.com',
    subject: 'Hello',
    text: 'Hello',
    html: '<p>Hello</p>',
    replyTo: null,
    inReplyTo: null,
    referenceIds: null,
    isPersonal: false,
    batchId: newId('mailBatch'),
    attempts: 1,
    createdAtMs: 0,
    unsubscribeUrl: 'https://easel.example/unsubscribe/x',
    files: [],
    ...more,
  };
  const composer = createTransport({ streamTransport: true, buffer: true, newline: 'windows' });
  const { message, envelope } = await composer.sendMail(messageOf(mail, FROM));
  expect(envelope.to).toHaveLength(1);
  return String(message);
}

/** Parses twice: by a library, and by hand, because the two may see different headers. */
async function expectIntact(raw: string, to: string): Promise<void> {
  const headers = headersOf(raw);
  expect([...headers.keys()].filter((name) => !KNOWN.includes(name))).toEqual([]);
  expect([...headers].filter(([, values]) => values.length > 1)).toEqual([]);
  expect(headers.get('to')).toEqual([to]);
  // No line of the head ends with anything but CRLF, and none holds a control character.
  const head = raw.slice(0, raw.indexOf('\r\n\r\n'));
  expect(head.replaceAll('\r\n', '')).not.toMatch(/[\p{Cc}\u2028\u2029]/u);
  const parsed = await simpleParser(raw);
  expect(parsed.headers.has('bcc') || parsed.headers.has('cc') || parsed.headers.has('x-evil')).toBe(false);
  expect(
    [parsed.to]
      .flat()
      .flatMap((one) => one?.value ?? [])
      .map(({ address }) => address),
  ).toEqual([to]);
}

describe('[J12] header, template and include injection', () => {
  test.each(EVIL)('a subject %j stays a subject', async (evil) => {
    const raw = await rawOf({ subject: evil });
    await expectIntact(raw, 'ada@example.com');
  });

  test.each(EVIL)('a value %j of a template stays in its place', async (evil) => {
    const template = { subject: 'For {{data.x}}', html: '<p title="{{data.x}}">{{data.x}}</p>', text: '{{data.x}}', variables: [] };
    const { subject, html, text } = renderTemplate(template, { x: evil });
    expect(subject).not.toMatch(/[\p{Cc}\u2028\u2029]/u);
    expect(html.match(/<[^>]*>/g)).toEqual([expect.stringMatching(/^<p title="[^"<>]*">$/), '</p>']);
    await expectIntact(await rawOf({ subject, html, text }), 'ada@example.com');
  });

  test.each(EVIL)('a text %j stays in the body', async (evil) => {
    await expectIntact(await rawOf({ text: evil, html: evil }), 'ada@example.com');
    await expectIntact(await rawOf({ text: evil, html: null }), 'ada@example.com');
  });

  test.each(EVIL)('an address %j is refused, and would be one address where it were not', async (evil) => {
    const send = (fields: object) =>
      emailSend.safeParse({ artifact_id: newId('artifact'), to: ['a@example.com'], subject: 's', text: 't', ...fields });
    expect(send({}).success).toBe(true);
    for (const fields of [{ to: [evil] }, { reply_to: evil }]) expect(send(fields).success).toBe(false);
    expect(ownerNotice.safeParse({ text: 't', replyTo: evil }).success).toBe(false);
    const raw = await rawOf({ replyTo: evil });
    const headers = headersOf(raw);
    expect([...headers.keys()].filter((name) => !KNOWN.includes(name))).toEqual([]);
    expect((await simpleParser(raw)).replyTo?.value ?? []).toHaveLength(headers.get('reply-to') === undefined ? 0 : 1);
  });

  test.each([...EVIL, '../../.bashrc', 'C:\\autoexec.bat', 'a".exe', 'plan\u202efdp.exe', '.htaccess'])(
    'a name %j of a file stays a name',
    async (evil) => {
      const file = { filename: evil, type: 'text/plain', bytes: Buffer.from('text'), cid: null };
      const raw = await rawOf({ files: [file, { ...file, type: 'image/png', cid: 'logo' }], html: '<img src="cid:logo">' });
      await expectIntact(raw, 'ada@example.com');
      const { attachments } = await simpleParser(raw, { keepCidLinks: true });
      expect(attachments.map(({ content }) => content.toString())).toEqual(['text', 'text']);
      for (const { filename = '', headers } of attachments) {
        expect(filename).not.toMatch(/[\p{Cc}\u2028\u2029\u202a-\u202e/\\:]|^\./u);
        expect([...headers.keys()].filter((name) => !OF_A_FILE.includes(name))).toEqual([]);
      }
    },
  );

  test('a value that is a template, an include or HTML is text', () => {
    const data = { x: '{{data.secret}}{{> file}}{{{data.secret}}}<mj-include path="/etc/passwd">', secret: 'hidden' };
    const { subject, html, text } = renderTemplate({ subject: '{{data.x}}', html: '{{data.x}}', text: '{{data.x}}', variables: [] }, data);
    for (const part of [subject, html, text]) expect(part).not.toContain('hidden');
    expect(html).not.toContain('<');
  });
});
