/** Completes mail that is sent on behalf of a page: who sent it, of which page, and how to get no more of it. */
import type { ArtifactId, MailBatchId } from '../../protocol/core/ids.ts';
import { html } from '../edge/html.ts';
import type { Queries } from '../features/deps.ts';
import { type Config, pageUrl } from '../platform/config.ts';
import type { Sql } from '../storage/sql.ts';
import type { DueMail } from './outbox.ts';
import { type Locale, localeOf, named } from './templates/message.ts';
import type { MailFile, OutgoingMail } from './transports.ts';
import { UnsubscribeLinks } from './unsubscribe-links.ts';

export interface MailFiles {
  /** Throws `MailRefused` where the mail must not be sent. */
  read(id: MailBatchId): Promise<readonly MailFile[]>;
}

interface Origin {
  readonly artifactId: ArtifactId;
  readonly name: string;
  readonly slug: string;
  readonly purpose: 'page' | 'owner';
  readonly locale: string;
  /** Null where nobody with an account sent it, or the account is gone. */
  readonly sender: string | null;
}

interface Words {
  /** `by`: null for a visitor without an account. */
  readonly source: (purpose: Origin['purpose'], by: string | null, page: string) => string;
  readonly noMore: string;
}

const WORDS: Readonly<Record<Locale, Words>> = {
  en: {
    source: (purpose, by, page) => {
      if (purpose === 'page') return by === null ? `Sent by the page "${page}".` : `${by} sent this by the page "${page}".`;
      return by === null
        ? `A visitor of your page "${page}" wrote this. Nobody has checked who they are.`
        : `${by} wrote this on your page "${page}".`;
    },
    noMore: 'No more mail of this page:',
  },
  es: {
    source: (purpose, by, page) => {
      if (purpose === 'page') return by === null ? `Enviado por la página «${page}».` : `${by} lo envía desde la página «${page}».`;
      return by === null
        ? `Lo ha escrito un visitante de tu página «${page}». Nadie ha comprobado quién es.`
        : `${by} lo ha escrito en tu página «${page}».`;
    },
    noMore: 'No recibir más correo de esta página:',
  },
};

export class PageMailFrame {
  readonly #sql: Sql;
  readonly #config: Config;
  readonly #links: UnsubscribeLinks;
  readonly #files: MailFiles;

  constructor({ sql, config, files }: { readonly sql: Sql; readonly config: Config; readonly files: MailFiles }) {
    this.#sql = sql;
    this.#config = config;
    this.#links = new UnsubscribeLinks({ sql, config });
    this.#files = files;
  }

  /** Other mail is sent as it is. Null where the page was removed meanwhile, and its mail with it. Throws `MailRefused` where a file may not go with it. */
  async complete(mail: DueMail): Promise<OutgoingMail | null> {
    if (mail.batchId === null) return { ...mail, unsubscribeUrl: null, files: [] };
    const origin = await readOrigin(this.#sql, mail.batchId);
    if (origin === null) return null;
    const files = await this.#files.read(mail.batchId);
    const unsubscribeUrl = await this.#links.urlFor(origin.artifactId, mail.recipient);
    const { source, noMore } = WORDS[localeOf(origin.locale)];
    const by = origin.sender === null ? null : named(origin.sender);
    const said = source(origin.purpose, by, named(origin.name));
    const page = `${pageUrl(this.#config, origin.slug)}/`;
    const text = `${mail.text.trimEnd()}\n\n-- \n${said}\n${page}\n${noMore}\n${unsubscribeUrl}\n`;
    const footer = html`<hr style="margin:24px 0 8px;border:0;border-top:1px solid #b3aea4">
<p style="margin:0;font:13px/1.5 sans-serif;color:#6b6862">${said} <a href="${page}">${page}</a><br>
${noMore} <a href="${unsubscribeUrl}">${unsubscribeUrl}</a></p>`.text;
    return { ...mail, text, html: mail.html === null ? null : withFooter(mail.html, footer), unsubscribeUrl, files };
  }
}

async function readOrigin(sql: Queries, id: MailBatchId): Promise<Origin | null> {
  const [row] = await sql<Origin[]>`
    select r.id as "artifactId", r.name, r.slug, b.purpose, b.locale, coalesce(nullif(a.name, ''), a.username) as sender
    from mail_batch b join artifact r on r.id = b.artifact_id left join account a on a.id = b.sender_id where b.id = ${id}`;
  return row ?? null;
}

/** Inside the body where there is one, because some programs drop what follows it. */
function withFooter(document: string, footer: string): string {
  const end = [...document.matchAll(/<\/body>/gi)].at(-1)?.index;
  return end === undefined ? `${document}\n${footer}\n` : `${document.slice(0, end)}${footer}\n${document.slice(end)}`;
}
