/** login, logout, whoami. */
import type { Command } from 'commander';
import type { Client } from '../sdk.ts';
import { ApiError } from '../sdk.ts';
import { CliFailure } from './failures.ts';
import { forgetSignIn, saveSignIn } from './saved.ts';
import type { OpenSession, Session } from './session.ts';
import { readText } from './standard-input.ts';

async function me(api: Client, signal: AbortSignal) {
  return (await api.call('accounts.me', { signal })).body;
}
type Me = Awaited<ReturnType<typeof me>>;

function whoText(session: Session, who: Me): string {
  const { user } = who;
  const name = user.name ?? user.username ?? user.email;
  return `${name ? `${name} (${user.id})` : user.id} at ${session.url}, tier ${who.tier}`;
}

function report(session: Session, who: Me, more: Readonly<Record<string, unknown>> = {}) {
  return { server: session.url, user: who.user, token: who.token, tier: who.tier, workspaces: who.workspaces, ...more };
}

async function keep(session: Session, token: string, created: boolean): Promise<void> {
  const who = await me(session.apiFor(token), session.shell.signal);
  const replaced = await saveSignIn(session.files, token, session.url);
  const lines = [`${created ? 'Made an account and signed in' : 'Signed in'}: ${whoText(session, who)}.`];
  lines.push(`The token is kept in ${session.files.credentials}.`);
  if (replaced) lines.push(`The token before it is kept in ${session.files.previous}.`);
  if (session.tokenFrom === 'EASEL_TOKEN') lines.push('EASEL_TOKEN is set and goes before it; unset it to use the new one.');
  if (created) lines.push('It is the only key to this account: keep a copy. Next: easel publish my-folder');
  session.answer(report(session, who, { created, credentials: session.files.credentials }), lines.join('\n'));
}

/** Who the present token speaks for, or undefined where it no longer speaks for anybody. */
async function present(session: Session): Promise<Me | undefined> {
  if (session.token === undefined) return undefined;
  return me(session.api, session.shell.signal).catch((error: unknown) => {
    if (error instanceof ApiError && error.status === 401) return undefined;
    throw error;
  });
}

async function login(session: Session, options: { token?: string; new?: boolean }): Promise<void> {
  if (options.token !== undefined) {
    const token = (options.token === '-' ? await readText(session.shell.stdin) : options.token).trim();
    if (!/^sot?_/.test(token)) throw new CliFailure('usage', 'INVALID_TOKEN', 'This is not a token.', 'A token begins with so_ or sot_.');
    return keep(session, token, false);
  }
  const who = options.new ? undefined : await present(session);
  if (who) {
    session.answer(report(session, who, { created: false }), `Already signed in: ${whoText(session, who)}.`);
    return;
  }
  const made = await session.apiFor(undefined).call('accounts.create', { signal: session.shell.signal });
  return keep(session, made.body.token, true);
}

async function logout(session: Session, options: { yes?: boolean }): Promise<void> {
  const who = session.tokenFrom === 'credentials file' && !options.yes ? await present(session) : undefined;
  if (who && who.user.email === null) {
    throw new CliFailure(
      'usage',
      'ONLY_KEY',
      'No e-mail is linked to this account: its token is the only key, and signing out deletes it here.',
      'Keep a copy ("easel whoami --show-token"), then run "easel logout --yes".',
    );
  }
  await forgetSignIn(session.files);
  const still = session.tokenFrom === 'EASEL_TOKEN' ? ' EASEL_TOKEN is still set.' : '';
  session.answer({ success: true, credentials: session.files.credentials }, `Signed out.${still}`);
}

async function whoami(session: Session, options: { showToken?: boolean }): Promise<void> {
  const who = await me(session.api, session.shell.signal);
  const secret = options.showToken ? { secret: session.token } : {};
  const lines = [
    whoText(session, who),
    `Token: ${who.token.kind}, from ${session.tokenFrom === 'EASEL_TOKEN' ? 'EASEL_TOKEN' : session.files.credentials}`,
  ];
  if (options.showToken) lines.push(session.token ?? '');
  session.answer(report(session, who, secret), lines.join('\n'));
}

export function addAccountCommands(program: Command, open: OpenSession): void {
  program.commandsGroup('Account');
  program
    .command('login')
    .summary('sign in; makes an account when you have none')
    .description('Signs in. Without a token it makes a new account on the server, unless you are signed in already.')
    .option('--token <so_…>', 'sign in with this token; "-" reads it from standard input')
    .option('--new', 'make a new account although you are signed in')
    .addHelpText(
      'after',
      '\nExamples:\n  easel login\n  easel login --url https://easel.example.com --token so_…\n  easel login --token - < token.txt',
    )
    .action(async (options, command) => login(await open(command), options));
  program
    .command('logout')
    .summary('forget the token on this machine')
    .description('Deletes the token from this machine. The token itself stays valid: revoke it with DELETE /v1/me/tokens/{id}.')
    .option('--yes', 'also when the token is the only key to the account')
    .addHelpText('after', '\nExample:\n  easel logout')
    .action(async (options, command) => logout(await open(command), options));
  program
    .command('whoami')
    .summary('who you are, and where')
    .description('Shows the account, its tier and the server.')
    .option('--show-token', 'print the token too')
    .addHelpText('after', '\nExamples:\n  easel whoami\n  easel whoami --json')
    .action(async (options, command) => whoami(await open(command), options));
}
