/** A service that sends its mail to a server of the test, and who sends it. */
import { createHash } from 'node:crypto';
import { startTestEasel, type TestEasel, type TestEaselOptions, type TestUser } from '../../../support/easel.ts';
import { json, post } from '../../../support/requests.ts';
import { startSmtp, type TestSmtp } from '../../../support/smtp.ts';

export interface MailStage {
  readonly easel: TestEasel;
  readonly smtp: TestSmtp;
  close(): Promise<void>;
}

export async function mailStage(options: TestEaselOptions = {}): Promise<MailStage> {
  const smtp = await startSmtp();
  const settings = { ...options.settings, SMTP_URL: smtp.url, MAIL_FROM: 'Easel <easel@pages.example>' };
  const easel = await startTestEasel({ ...options, settings });
  return {
    easel,
    smtp,
    close: async () => {
      await easel.close();
      await smtp.close();
    },
  };
}

let slugs = 0;

export async function publishPage(
  easel: TestEasel,
  user: TestUser,
  more: Record<string, unknown> = {},
): Promise<{ id: string; slug: string }> {
  slugs += 1;
  const files = [{ path: 'index.html', content: '<h1>Page</h1>' }];
  const { allow_anon_email, ...fields } = more;
  const reply = await easel.fetch('/v1/publish', {
    token: user.token,
    ...post({ name: `Page ${slugs}`, visibility: 'public', files, ...fields }),
  });
  const { artifact, deployment } = await json(reply);
  if (allow_anon_email !== undefined) await easel.sql`update artifact set allow_anon_email = true where id = ${artifact.id}`;
  return { id: artifact.id, slug: deployment.slug };
}

/** The smallest number that solves a challenge, as a browser finds it. */
function solve(challenge: string, bits: number): string {
  for (let n = 0; ; n += 1) {
    const digest = createHash('sha256').update(`${challenge}.${n}`).digest();
    if (digest.readUInt32BE(0) >>> (32 - bits) === 0) return String(n);
  }
}

export async function proofFor(easel: TestEasel, artifactId: string): Promise<{ challenge: string; solution: string }> {
  const reply = await easel.fetch(`/v1/data/${artifactId}/email/challenge`, { method: 'POST' });
  const { data } = await json(reply);
  return { challenge: data.challenge, solution: solve(data.challenge, data.bits) };
}

/** The headers of a raw mail by their lowercase names, unfolded, read by hand. */
export function headersOf(raw: string): Map<string, string[]> {
  const head = raw.slice(0, raw.search(/\r?\n\r?\n/)).replace(/\r?\n[ \t]+/g, ' ');
  const headers = new Map<string, string[]>();
  for (const line of head.split(/\r?\n/)) {
    const name = line.slice(0, line.indexOf(':')).toLowerCase();
    headers.set(name, [...(headers.get(name) ?? []), line.slice(line.indexOf(':') + 1).trim()]);
  }
  return headers;
}
