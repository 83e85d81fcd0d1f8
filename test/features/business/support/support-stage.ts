/** A service that answers tickets, with a mail server that takes its mail, and whoever asks and answers. */
import { expect, vi } from 'vitest';
import type { TestEaselOptions, TestUser } from '../../../support/easel.ts';
import { json, post } from '../../../support/requests.ts';
import { signedBy } from '../../../support/signed.ts';
import { type MailStage, mailStage } from '../../automation/email/mail-stage.ts';
import { type Person, person } from '../../workspaces/workspace-stage.ts';

export const SUPPORT = 'help@pages.example';

export async function supportStage(options: TestEaselOptions = {}): Promise<MailStage> {
  const settings = { SUPPORT_ADDRESS: SUPPORT, LOG_LINK_TEMPLATE: 'https://logs.example/?q={request_id}', ...options.settings };
  return mailStage({ ...options, settings });
}

/** Somebody who answers tickets, before they have called anything. */
export async function staffOf({ easel }: MailStage, name: string): Promise<Person> {
  const staff = await person(easel, name);
  await easel.sql`update account set is_staff = true where id = ${staff.userId}`;
  return staff;
}

// biome-ignore lint/suspicious/noExplicitAny: the tests say what an answer holds.
export type Answer = { readonly status: number; readonly body: any };

export async function call({ easel }: MailStage, by: TestUser | undefined, path: string, body?: unknown, method?: string): Promise<Answer> {
  const init = body === undefined ? { method: method ?? 'GET' } : { ...post(body), ...(method !== undefined && { method }) };
  const reply = await easel.fetch(path, { ...init, ...(by !== undefined && { token: by.token }) });
  return { status: reply.status, body: await json(reply) };
}

export async function open(stage: MailStage, by: TestUser, more: Record<string, unknown> = {}): Promise<string> {
  const { status, body } = await call(stage, by, '/v1/support/tickets', { subject: 'The map', body: 'It stays empty.', ...more });
  expect([status, body.success]).toEqual([201, true]);
  return body.ticket.id;
}

export function at(ticketId: string, rest = ''): string {
  return `/v1/support/tickets/${ticketId}${rest}`;
}

export async function read(stage: MailStage, by: TestUser, ticketId: string): Promise<Answer['body']> {
  const { status, body } = await call(stage, by, at(ticketId));
  expect(status).toBe(200);
  return body;
}

export async function codeOf(answer: Promise<Answer>): Promise<readonly [number, string]> {
  const { status, body } = await answer;
  return [status, body.code];
}

export interface MailParts {
  readonly from?: string;
  readonly to?: string;
  readonly subject?: string;
  readonly id?: string;
  readonly headers?: readonly string[];
  readonly text?: string;
}

let mails = 0;

export function mailOf({
  from = 'Grace <grace@mail.example>',
  to = SUPPORT,
  subject = 'The map',
  id,
  headers = [],
  text = 'Empty.',
}: MailParts) {
  mails += 1;
  const head = [`From: ${from}`, `To: ${to}`, `Subject: ${subject}`, `Message-ID: ${id ?? `<m${mails}@mail.example>`}`, ...headers];
  return [...head, '', text.replaceAll('\n', '\r\n'), ''].join('\r\n');
}

/** Brings a mail as a mail server does. */
export async function bring({ easel }: MailStage, mail: string | Uint8Array, headers: Record<string, string> = {}): Promise<Answer> {
  const body = new Uint8Array(Buffer.from(mail));
  const signed = { 'content-type': 'message/rfc822', 'easel-signature': signedBy(easel, body), ...headers };
  const reply = await easel.fetch('/v1/support/inbound/email', { method: 'POST', headers: signed, body });
  return { status: reply.status, body: await json(reply) };
}

/** Messages of another chat, or reads of its replies. */
export async function chat({ easel }: MailStage, body: unknown, path = '/v1/support/inbound/chat'): Promise<Answer> {
  const text = JSON.stringify(body);
  const headers = { 'content-type': 'application/json', 'easel-signature': signedBy(easel, text) };
  const reply = await easel.fetch(path, { method: 'POST', headers, body: text });
  return { status: reply.status, body: await json(reply) };
}

/** The mail that has left to an address, once there are so many. */
export async function mailsTo({ smtp }: MailStage, address: string, count: number): Promise<readonly string[]> {
  const found = () => smtp.taken.filter(({ to }) => to.includes(address)).map(({ text }) => text);
  await vi.waitUntil(() => found().length >= count, { timeout: 60_000 });
  return found();
}

export async function bellOf(stage: MailStage, by: TestUser): Promise<{ kind: string; title: string; url: string; body: string }[]> {
  return (await call(stage, by, '/v1/notifications')).body.notifications;
}
