/** Whether anybody has written a mail, what it is known by, and what of it fits into a message. */
import { describe, expect, it } from 'vitest';
import { newId } from '../../../../protocol/core/ids.ts';
import type { ParsedMail } from '../../../../src/features/business/support/inbound/mail-message.ts';
import {
  answeredMails,
  boundedText,
  keyOfMail,
  notWritten,
  subjectOf,
  tokensOf,
} from '../../../../src/features/business/support/inbound/mail-rules.ts';

const OWN = { support: 'help@x.example', from: 'easel@x.example' };
const TOKEN = 'b3'.repeat(12);
const mail = (more: Partial<ParsedMail> = {}): ParsedMail => ({
  kind: 'mail',
  sha256: '00',
  messageId: '<1@mail.example>',
  references: [],
  from: { name: 'Grace', address: 'grace@mail.example' },
  recipients: ['help@x.example'],
  subject: 'The map',
  text: 'Empty',
  cut: { body: 'Empty', quoted: null },
  marks: {},
  files: [],
  leftOut: [],
  ...more,
});
const from = (address: string) => mail({ from: { name: '', address } });
const marked = (name: string, value: string) => mail({ marks: { [name]: value } });

describe('nobody has written', () => {
  it.each<[string, ParsedMail]>([
    ['automatic', marked('auto-submitted', 'auto-replied')],
    ['automatic', marked('auto-submitted', 'auto-generated; x')],
    ['automatic', marked('x-autoreply', 'yes')],
    ['automatic', marked('x-autorespond', 'yes')],
    ['automatic', from('no-reply@shop.example')],
    ['bulk', marked('precedence', 'Bulk')],
    ['bulk', marked('precedence', 'auto_reply')],
    ['list', marked('list-id', '<news.shop.example>')],
    ['loop', marked('x-loop', 'help@x.example')],
    ['loop', mail({ messageId: `<${newId('mail')}@x.example>` })],
    ['loop', from('easel@x.example')],
    ['loop', from('help@x.example')],
    ['loop', from(`help+${TOKEN}@x.example`)],
    ['bounce', marked('return-path', ' <> ')],
    ['bounce', marked('content-type', 'multipart/report; report-type=delivery-status')],
    ['bounce', from('mailer-daemon@mail.example')],
    ['no_sender', mail({ from: null })],
  ])('%s %#', (reason, one) => {
    expect(notWritten(one, OWN, null)).toBe(reason);
  });

  it('a mail without a sender in its envelope', () => {
    expect([notWritten(mail(), OWN, ''), notWritten(mail(), OWN, 'grace@mail.example')]).toEqual(['bounce', null]);
  });

  it('but a mail of a person, whatever it names', () => {
    for (const one of [
      mail(),
      marked('auto-submitted', 'no'),
      marked('precedence', 'normal'),
      mail({ messageId: null }),
      marked('return-path', '<grace@mail.example>'),
    ])
      expect(notWritten(one, OWN, null)).toBeNull();
  });
});

describe('a mail', () => {
  it('is known by its sender and its Message-ID, else by its bytes', () => {
    const key = (one: Partial<ParsedMail>) => keyOfMail(mail(one)).toString('hex');
    expect(key({})).toBe(key({ text: 'other', sha256: '01' }));
    // Nobody keeps the mail of somebody else out by sending one with its Message-ID first.
    expect(key({})).not.toBe(key({ from: { name: '', address: 'eve@mail.example' } }));
    expect(key({ messageId: null })).toBe(key({ messageId: null }));
    expect(key({ messageId: null })).not.toBe(key({ messageId: null, sha256: '01' }));
  });

  it('names tickets by addresses and by our mails that it answers', () => {
    expect(tokensOf({ recipients: ['ada@x.example', `help+${TOKEN}@x.example`] }, [`HELP+${TOKEN}@x.example`], OWN)).toEqual([TOKEN]);
    const id = newId('mail');
    expect(answeredMails({ references: ['<a@b>', `<${id}@x.example>`, '<eml_short@x>'] })).toEqual([id]);
  });

  it('that is too long for a message is a file beside it', () => {
    expect(boundedText('abc', { body: 'abc', quoted: null })).toEqual({ body: 'abc', quoted: null, whole: null });
    const long = '😀'.repeat(20_001);
    const { body, quoted, whole } = boundedText(long, { body: long, quoted: 'q'.repeat(30_000) });
    expect([[...body].length, body.endsWith('…'), quoted?.length]).toEqual([20_000, true, 20_000]);
    expect(Buffer.from(whole?.bytes ?? []).toString()).toBe(long);
    expect(boundedText('😀'.repeat(20_000), { body: '😀'.repeat(20_000), quoted: null }).whole).toBeNull();
    expect(boundedText('', { body: '', quoted: null }).body).toBe('—');
  });

  it('gives its ticket a subject of one line', () => {
    expect(subjectOf('Re: AW: Fwd: The\r\n map ')).toBe('The map');
    expect([subjectOf(''), subjectOf('Re:'), [...subjectOf('😀'.repeat(300))].length]).toEqual(['—', 'Re:', 200]);
  });
});
