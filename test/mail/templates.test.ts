/** Every mail in every language: complete, escaped, and of one shape on the wire. */

import fc from 'fast-check';
import { simpleParser } from 'mailparser';
import { createTransport } from 'nodemailer';
import { describe, expect, test } from 'vitest';
import { composeMail, MAIL_KINDS, type Mail, type MailKind } from '../../src/mail/templates/compose.ts';
import { LOCALES, type Locale, localeOf, named, quoted } from '../../src/mail/templates/message.ts';
import { messageOf } from '../../src/mail/transports.ts';

const URL_OF_MAIL = 'http://localhost:8787/somewhere?a=1&b=2';
const FROM = 'Easel <easel@pages.example>';

/** Facts that satisfy every template, with `words` wherever somebody else's words go. */
function facts(kind: MailKind, words: string) {
  return {
    code: '123456',
    url: URL_OF_MAIL,
    approveUrl: URL_OF_MAIL,
    denyUrl: URL_OF_MAIL,
    minutes: 10,
    days: 14,
    by: words,
    email: words,
    artifact: words,
    workspace: words,
    content: words,
    message: words,
    rule: words,
    what: words,
    title: `News of ${words}`,
    body: words,
    endsOn: '2026-03-01',
    dueAtMs: Date.UTC(2026, 2, 1),
    role: kind === 'access_granted' || kind === 'share' ? 'editor' : 'member',
  };
}

// The templates differ in what they read of these facts, and all of it is there.
const compose = (kind: MailKind, words: string, locale: Locale): Mail =>
  composeMail(kind, facts(kind, words) as never, { recipient: 'ada@example.com', locale });

async function rawOf(mail: Mail): Promise<Buffer> {
  const composer = createTransport({ streamTransport: true, buffer: true });
  const sent = { replyTo: null, inReplyTo: null, referenceIds: null, isPersonal: false, attempts: 1, createdAtMs: 0 };
  const due = { ...mail, ...sent, id: 'eml_x', batchId: null, unsubscribeUrl: null, files: [] };
  return (await composer.sendMail(messageOf(due, FROM))).message as unknown as Buffer;
}

describe.each(LOCALES)('%s', (locale) => {
  test.each(MAIL_KINDS)('%s has a subject, a text and the same words in HTML', (kind) => {
    const mail = compose(kind, 'Ada', locale);
    expect(mail.subject.length).toBeGreaterThan(8);
    expect(mail.html).toContain(`<html lang="${locale}"`);
    expect(`${mail.subject}${mail.text}${mail.html}`).not.toMatch(/undefined|null|\[object|NaN/);
    const shown = (mail.html ?? '').replace(/<(style|title)>[\s\S]*<\/\1>/g, '').replace(/<[^>]+>/g, '\n');
    const decoded = shown.replace(/&#(\d+);/g, (_, code) => String.fromCharCode(Number(code)));
    const words = mail.text.split('\n').map((line) => line.replace(/^> |:$/, '').trim());
    for (const line of words) expect(decoded).toContain(line);
  });
});

test('the two languages have texts of their own', () => {
  for (const kind of MAIL_KINDS) expect(compose(kind, 'Ada', 'es').text).not.toBe(compose(kind, 'Ada', 'en').text);
});

test('[J12] whatever a person calls himself, the raw mail has one recipient, our headers, two parts and no foreign markup', async () => {
  const expectedHeaders = new Set((await parse(compose('invite', 'Ada', 'en'))).headers.keys());
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...MAIL_KINDS),
      fc.constantFrom(...LOCALES),
      fc.oneof(
        fc.string({ unit: 'binary', maxLength: 400 }),
        fc.constantFrom(
          'x\r\nBcc: eve@example.com',
          'x\n\n<script>alert(1)</script>',
          'x\r\nContent-Type: text/html\r\n\r\n<b>',
          '"><img src=x onerror=alert(1)>',
          '\u2028Bcc: eve@example.com',
          '=?utf-8?q?=0D=0ABcc:_eve@example.com?=',
          '--_NmP-boundary--',
          '{{code}} <%= code %>',
          'ada@example.com, eve@example.com',
        ),
      ),
      async (kind, locale, words) => {
        const mail = compose(kind, words, locale);
        const parsed = await parse(mail);
        expect(new Set(parsed.headers.keys())).toEqual(expectedHeaders);
        expect(recipients(parsed.to)).toEqual(['ada@example.com']);
        expect(parsed.cc).toBeUndefined();
        expect(parsed.bcc).toBeUndefined();
        expect(parsed.attachments).toEqual([]);
        expect(
          mail.html?.replace(/<\/?(?:html|head|meta|title|style|body|table|tr|td|h1|p|span|blockquote|a)\b[^<>]*>|<!doctype html>/g, ''),
        ).not.toMatch(/[<>]/);
        // Every link is the one of the mail.
        for (const [, href] of (mail.html ?? '').matchAll(/href="([^"]*)"/g)) expect(href).toBe(URL_OF_MAIL.replace('&', '&#38;'));
      },
    ),
    { numRuns: 150 },
  );
});

async function parse(mail: Mail) {
  return simpleParser(await rawOf(mail));
}

function recipients(to: Awaited<ReturnType<typeof simpleParser>>['to']): (string | undefined)[] {
  return (Array.isArray(to) ? to : [to]).flatMap((one) => one?.value.map(({ address }) => address) ?? []);
}

test('a name becomes no link and does not turn the text around', () => {
  expect(named('Win at https://evil.example now')).not.toMatch(/https?:\/\/|evil\.example/);
  expect(named('Ada \u202egnp.exe')).toBe('Ada gnp\u2060.exe');
  expect([...named('x'.repeat(5000))]).toHaveLength(121);
  expect(named('Ada Lovelace, Ph.D. – 3.5')).toContain('Ada Lovelace, Ph');
  expect(quoted('one\r\ntwo\u0007')).toBe('one\ntwo');
});

test.each([
  [['es'], 'es'],
  [['es-MX', 'en'], 'es'],
  [['ES_es'], 'es'],
  [['fr', 'es'], 'es'],
  [[null, undefined, 7, 'english'], 'en'],
  [[], 'en'],
])('the language of %j is %s', (wanted, locale) => {
  expect(localeOf(...wanted)).toBe(locale);
});
