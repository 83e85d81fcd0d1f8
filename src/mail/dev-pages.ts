/**
 * The pages of mail that was not sent. They show codes with which anybody can sign in, so they are there only where no SMTP server is
 * configured, for a browser on the machine itself and for administrators.
 */
import { Failure } from '../../protocol/core/errors.ts';
import type { BaseCall, Handlers } from '../edge/call.ts';
import { type Html, html } from '../edge/html.ts';
import { framedPage, PAGE_HEADERS, PAGE_TYPE, timeText } from '../edge/page-frame.ts';
import type { ServiceDeps } from '../features/deps.ts';
import { dateTime } from '../platform/date-time.ts';
import { listMail, readMail, type WholeMail } from './dev-rows.ts';

type Ids = 'devMail.list' | 'devMail.show' | 'devMail.html';

const SHOWN_MAX = 100;
const LOOPBACK_ADDRESS = /^(?:127\.\d+\.\d+\.\d+|::1)$/;
const LOOPBACK_HOST = /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])(?::\d+)?$/i;

const FRAMING = { ...PAGE_HEADERS, 'Content-Security-Policy': `${PAGE_HEADERS['Content-Security-Policy']}; frame-src 'self'` };
/** No script, no request, no form; its links open in tabs of their own, outside the sandbox. */
const SANDBOX = {
  ...PAGE_HEADERS,
  'Content-Security-Policy':
    "sandbox allow-popups allow-popups-to-escape-sandbox; default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'self'; base-uri 'none'; form-action 'none'",
};

export function devMailPages({ sql, config }: Pick<ServiceDeps, 'sql' | 'config'>): Handlers<Ids> {
  const page = (title: string, content: Html, headers: typeof FRAMING = FRAMING) =>
    ({ reply: 'page', body: framedPage({ title, wide: true }, content), type: PAGE_TYPE, headers }) as const;
  const find = async (call: BaseCall, id: string): Promise<WholeMail> => {
    requireReader(call, config);
    const mail = await readMail(sql, id);
    if (mail === undefined) throw new Failure('NOT_FOUND');
    return mail;
  };
  return {
    'devMail.list': async (call) => {
      requireReader(call, config);
      const mails = await listMail(sql, SHOWN_MAX);
      return page(
        'Mail',
        html`<h1>Mail</h1>
<p>No SMTP server is configured, so this mail was written here instead of being sent. Set <code>SMTP_URL</code> to send it.</p>
${mails.length === 0 ? html`<p class="notice">No mail yet.</p>` : html`<ul class="list">${mails.map((mail) => html`<li><span><a href="/dev/mail/${mail.id}">${mail.subject}</a><br><span class="soft small">to ${mail.recipient} · ${timeText(dateTime(mail.createdAtMs))}</span></span></li>`)}</ul>`}`,
      );
    },
    'devMail.show': async (call) => {
      const mail = await find(call, call.params.id);
      return page(
        mail.subject,
        html`<p><a href="/dev/mail">All mail</a></p>
<h1>${mail.subject}</h1>
<dl><dt>To</dt><dd>${mail.recipient}</dd><dt>At</dt><dd>${timeText(dateTime(mail.createdAtMs))}</dd></dl>
${mail.html !== null && html`<iframe class="mail" title="The mail" src="/dev/mail/${mail.id}/html" sandbox="allow-popups allow-popups-to-escape-sandbox"></iframe>`}
<h2>As text</h2>
<div class="card"><pre class="text" tabindex="0" role="region" aria-label="The text part">${mail.text}</pre></div>`,
      );
    },
    'devMail.html': async (call) => {
      const { html: body } = await find(call, call.params.id);
      if (body === null) throw new Failure('NOT_FOUND');
      return { reply: 'page', body: body.replace('<head>', '<head>\n<base target="_blank">'), type: PAGE_TYPE, headers: SANDBOX };
    },
  };
}

/** Throws NOT_FOUND where mail is sent, and ADMIN_REQUIRED. */
function requireReader(call: BaseCall, config: ServiceDeps['config']): void {
  if (config.SMTP_URL !== undefined) throw new Failure('NOT_FOUND');
  if (isOwnMachine(call, config)) return;
  const { principal } = call;
  if (principal.kind !== 'user' || !principal.isAdmin) throw new Failure('ADMIN_REQUIRED');
}

/**
 * Whether a browser on this machine asks. Behind a proxy every peer is on this machine, so nothing may speak of one; and a name that only
 * resolves to this machine is not enough, because a page of another site can have such a name.
 */
function isOwnMachine(call: BaseCall, config: ServiceDeps['config']): boolean {
  return mailIsShown(config) && !call.isForwarded && LOOPBACK_ADDRESS.test(call.address) && LOOPBACK_HOST.test(call.host);
}

/** Whether people who try the service on their own machine find its mail on these pages. */
export function mailIsShown({ SMTP_URL, TRUST_PROXY, baseUrl }: ServiceDeps['config']): boolean {
  return SMTP_URL === undefined && !TRUST_PROXY && LOOPBACK_HOST.test(new URL(baseUrl).host);
}
