/** Mail through the death of the process: nothing is lost, and what leaves twice is the same mail to whoever gets it. */
import type { AddressInfo } from 'node:net';
import postgres from 'postgres';
import { SMTPServer } from 'smtp-server';
import { expect, it, onTestFinished } from 'vitest';
import { headersOf } from '../features/automation/email/mail-stage.ts';
import { createServerDatabase, temporaryDir } from '../support/database.ts';
import { type Program, startProgram } from '../support/program.ts';
import { post } from '../support/requests.ts';
import { describeWith } from '../support/services.ts';

interface Arrived {
  readonly to: string;
  readonly messageId: string;
}

/** Takes mail, and while `answers` is false leaves the sender without the answer that it has. */
async function mailServer() {
  const arrived: Arrived[] = [];
  const state = { answers: false };
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    onData: (stream, session, done) => {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        const [to] = session.envelope.rcptTo.map(({ address }) => address);
        arrived.push({ to: to ?? '', messageId: headersOf(Buffer.concat(chunks).toString()).get('message-id')?.[0] ?? '' });
        if (state.answers) done();
      });
    },
    logger: false,
  });
  server.on('error', () => undefined);
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  onTestFinished(() => new Promise<void>((done) => server.close(done)));
  return { arrived, state, url: `smtp://127.0.0.1:${(server.server.address() as AddressInfo).port}` };
}

async function queueMails(program: Program, token: string, to: readonly string[]): Promise<string> {
  const call = async (path: string, body: unknown) => {
    const init = post(body);
    const reply = await fetch(`${program.baseUrl}${path}`, { ...init, headers: { ...init.headers, authorization: `Bearer ${token}` } });
    if (!reply.ok) throw new Error(`${path} answered ${reply.status}: ${await reply.text()}`);
    // biome-ignore lint/suspicious/noExplicitAny: the test says what the answer holds.
    return (await reply.json()) as any;
  };
  const { artifact } = await call('/v1/publish', { name: 'Page', files: [{ path: 'index.html', content: '<h1>Page</h1>' }] });
  const { id } = await call('/v1/email/send', { artifact_id: artifact.id, to, subject: 'News', text: 'It is there.' });
  return id;
}

describeWith('postgresUrl')('the process dies in the middle of mails', () => {
  it('every mail arrives, and one that arrives twice has the same Message-ID', async () => {
    const smtp = await mailServer();
    const folder = temporaryDir();
    const database = await createServerDatabase();
    const sql = postgres(database.url, { max: 2 });
    const settings = { DATA_DIR: folder.path, DATABASE_URL: database.url, SMTP_URL: smtp.url, MAIL_FROM: 'Easel <easel@pages.example>' };
    let program = await startProgram(settings);
    const token = program.adminToken ?? '';
    await sql`update account set email = 'admin@example.com' where is_admin`;
    const to = ['a@example.com', 'b@example.com', 'c@example.com'];
    const id = await queueMails(program, token, to);
    // The first is at the server, which has not said so yet.
    await expect.poll(() => smtp.arrived.length).toBe(1);
    await program.end('SIGKILL');
    smtp.state.answers = true;
    // The leases of the dead process end.
    await sql`update mail_outbox set next_attempt_at_ms = 0 where sent_at_ms is null`;
    program = await startProgram(settings);
    const status = async () => {
      const reply = await fetch(`${program.baseUrl}/v1/email/${id}`, { headers: { authorization: `Bearer ${token}` } });
      return ((await reply.json()) as { status: string }).status;
    };
    await expect.poll(status, { timeout: 60_000 }).toBe('sent');
    expect(new Set(smtp.arrived.map((mail) => mail.to))).toEqual(new Set(to));
    expect(smtp.arrived).toHaveLength(4);
    const idsOf = (address: string) => new Set(smtp.arrived.filter((mail) => mail.to === address).map(({ messageId }) => messageId));
    for (const address of to) expect(idsOf(address).size).toBe(1);
    expect(new Set(smtp.arrived.map(({ messageId }) => messageId)).size).toBe(3);
    await program.end('SIGTERM');
    await sql.end();
    await database.drop();
    folder.remove();
  });
});
