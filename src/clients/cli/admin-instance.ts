/** admin people, workspaces, suspend, outbox, jobs, health, flags, audit, banner, export, delete: the installation's administration. */
import { type Command, Option } from 'commander';
import { CliFailure } from './failures.ts';
import { collect, limitOption } from './paging.ts';
import type { OpenSession, Session } from './session.ts';
import { tableText, timeText } from './text.ts';

interface ListOptions {
  readonly limit: number;
  readonly query?: string;
}

type Api = Session['api'];
/** CSV is only sent where it is asked for. */
type AuditPage = Extract<Awaited<ReturnType<Api['instanceAudit']['list']>>['body'], { readonly has_more: boolean }>;
type Person = Awaited<ReturnType<Api['instancePeople']['get']>>['body'];

async function people(session: Session, { limit, query: q }: ListOptions): Promise<void> {
  const { items, hasMore } = await collect(limit, async (page) => {
    const { body } = await session.api.instancePeople.list({ query: { q, ...page }, signal: session.shell.signal });
    return { items: body.people, next: body.next_cursor };
  });
  const rows = items.map((one) => [one.email ?? one.username ?? '-', one.name ?? '-', one.tier, rolesOf(one), seenText(one), one.id]);
  const text = rows.length === 0 ? 'Nobody.' : tableText(['ADDRESS', 'NAME', 'TIER', 'ROLE', 'SEEN', 'ID'], rows);
  session.answer({ people: items, has_more: hasMore }, text);
}

function rolesOf({ is_admin, is_staff, suspended }: Person): string {
  const roles = [is_admin ? 'admin' : '', is_staff ? 'staff' : '', suspended === null ? '' : 'suspended'].filter((role) => role !== '');
  return roles.join(', ') || '-';
}

function seenText({ last_seen_at }: Person): string {
  return last_seen_at === null ? '-' : timeText(last_seen_at);
}

async function workspaces(session: Session, { limit, query: q }: ListOptions): Promise<void> {
  const { items, hasMore } = await collect(limit, async (page) => {
    const { body } = await session.api.instanceWorkspaces.list({ query: { q, ...page }, signal: session.shell.signal });
    return { items: body.workspaces, next: body.next_cursor };
  });
  const rows = items.map((one) => [
    ...[one.slug, one.name, `${one.plan_tier} ${one.plan_status}`, String(one.members)],
    ...[one.suspended === null ? '' : 'suspended', one.id],
  ]);
  const text = rows.length === 0 ? 'No workspaces.' : tableText(['SLUG', 'NAME', 'PLAN', 'MEMBERS', '', 'ID'], rows);
  session.answer({ workspaces: items, has_more: hasMore }, text);
}

/** `reason` null lifts the suspension. The kind of thing follows from its id. */
async function suspend(session: Session, id: string, reason: string | null): Promise<void> {
  const { signal } = session.shell;
  const body = { suspended: reason === null ? null : { reason } };
  const done = reason === null ? 'can be used again' : 'is suspended';
  if (id.startsWith('usr_')) {
    const person = (await session.api.instancePeople.update({ params: { userId: id }, body, signal })).body;
    const pages = reason !== null && person.public_pages > 0 ? ` ${person.public_pages} public pages stay; suspend them by their ids.` : '';
    session.answer(person, `${person.email ?? person.id} ${done}.${pages}`);
  } else if (id.startsWith('wsp_')) {
    const workspace = (await session.api.instanceWorkspaces.update({ params: { workspaceId: id }, body, signal })).body;
    session.answer(workspace, `${workspace.slug} ${done}.`);
  } else if (id.startsWith('art_')) {
    const artifact = (await session.api.instanceArtifacts.update({ params: { id }, body, signal })).body;
    session.answer(artifact, `${artifact.slug} ${done}.`);
  } else {
    const hint = '"easel admin people" and "easel admin workspaces" show ids.';
    throw new CliFailure('usage', 'INVALID_USAGE', `"${id}" is no id of a person, a workspace or an artifact.`, hint);
  }
}

async function signOut(session: Session, userId: string): Promise<void> {
  const { body } = await session.api.instancePeople.signOut({ params: { userId }, signal: session.shell.signal });
  session.answer(body, `${body.ended} ${body.ended === 1 ? 'session has' : 'sessions have'} ended. Tokens stay.`);
}

async function outbox(session: Session, options: ListOptions & { state?: 'queued' | 'failed' | 'suppressed' | 'sent' }): Promise<void> {
  const { limit, query: q, state } = options;
  const { items, hasMore } = await collect(limit, async (page) => {
    const { body } = await session.api.instanceMails.list({ query: { q, state, ...page }, signal: session.shell.signal });
    return { items: body.mails, next: body.next_cursor };
  });
  const rows = items.map((one) => [one.state, one.recipient, one.subject, timeText(one.created_at), one.id, one.failure ?? '']);
  const text = rows.length === 0 ? 'No mail.' : tableText(['STATE', 'TO', 'SUBJECT', 'QUEUED', 'ID', 'FAILURE'], rows);
  session.answer({ mails: items, has_more: hasMore }, text);
}

async function jobs(session: Session, options: ListOptions & { state: 'queued' | 'running' | 'failed' | 'next' }): Promise<void> {
  const { limit, query: q, state } = options;
  const { items, hasMore } = await collect(limit, async (page) => {
    const { body } = await session.api.instanceRuns.list({ query: { q, state, ...page }, signal: session.shell.signal });
    return { items: body.jobs, next: body.next_cursor };
  });
  const rows = items.map((one) => [one.state, one.title, one.action, timeText(one.at), one.job_id, one.error ?? '']);
  const text = rows.length === 0 ? 'No jobs.' : tableText(['STATE', 'TITLE', 'ACTION', 'WHEN', 'JOB', 'ERROR'], rows);
  session.answer({ jobs: items, has_more: hasMore }, text);
}

async function health(session: Session): Promise<void> {
  const { body } = await session.api.instanceHealth.get({ signal: session.shell.signal });
  const rows = body.parts.map(({ name, state, detail, since }) => [name, state, since === null ? '-' : timeText(since), detail ?? '']);
  session.answer(body, tableText(['PART', 'STATE', 'SINCE', ''], rows));
}

async function flags(session: Session, name: string | undefined, value: string | undefined): Promise<void> {
  const { signal } = session.shell;
  if (name !== undefined && value !== 'on' && value !== 'off') {
    throw new CliFailure('usage', 'INVALID_USAGE', 'A flag is switched on or off.', 'For example: easel admin flags sign_up off');
  }
  const changed = name === undefined ? undefined : { flags: { [name]: value === 'on' } };
  const { body } =
    changed === undefined
      ? await session.api.instanceFlags.get({ signal })
      : await session.api.instanceFlags.update({ body: changed, signal });
  const rows = Object.entries(body.flags).map(([flag, { enabled, changed_at }]) => {
    return [flag, enabled ? 'on' : 'off', changed_at === null ? '-' : timeText(changed_at)];
  });
  session.answer(body, tableText(['FLAG', '', 'CHANGED'], rows));
}

async function record(session: Session, options: { limit: number; action?: string; actor?: string; target?: string }): Promise<void> {
  const { limit, action, actor, target } = options;
  const { items, hasMore } = await collect(limit, async (page) => {
    const answer = await session.api.instanceAudit.list({ query: { action, actor, target, ...page }, signal: session.shell.signal });
    // Without an Accept of text/csv it is the page as JSON.
    const body = answer.body as AuditPage;
    return { items: body.entries, next: body.next_cursor };
  });
  const rows = items.map((one) => [
    timeText(one.at),
    one.actor.name ?? one.actor.id ?? '-',
    one.action,
    one.target.name ?? one.target.id ?? '-',
  ]);
  const text = rows.length === 0 ? 'Nothing.' : tableText(['WHEN', 'WHO', 'WHAT', 'ON'], rows);
  session.answer({ entries: items, has_more: hasMore }, text);
}

interface BannerOptions {
  readonly level: 'info' | 'warning' | 'critical';
  readonly from?: string;
  readonly to?: string;
  readonly clear?: boolean;
}

async function banner(session: Session, text: string | undefined, { level, from, to, clear }: BannerOptions): Promise<void> {
  const { signal } = session.shell;
  if (clear === true) {
    session.answer((await session.api.banner.clear({ signal })).body, 'The banner is down.');
    return;
  }
  const { body } =
    text === undefined
      ? await session.api.banner.stored({ signal })
      : await session.api.banner.set({ body: { text, level, from, to }, signal });
  session.answer(body, body.banner === null ? 'There is no banner.' : `${body.banner.level}: ${body.banner.text}`);
}

async function exportPerson(session: Session, userId: string): Promise<void> {
  const { body } = await session.api.personData.export({ params: { userId }, signal: session.shell.signal });
  session.answer(body, `Export ${body.id} is ${body.status}. GET /v1/admin/exports/${body.id}/file brings it when it is done.`);
}

interface DeleteOptions {
  readonly confirm: string;
  readonly heir?: string;
  readonly grace?: number;
}

async function deletePerson(session: Session, userId: string, { confirm, heir, grace }: DeleteOptions): Promise<void> {
  const { signal } = session.shell;
  const body = { confirm, ...(heir !== undefined && { heir_id: heir }), ...(grace !== undefined && { grace_days: grace }) };
  const done = (await session.api.personData.delete({ params: { userId }, body, signal })).body;
  session.answer(done, `Deletion ${done.id} begins ${timeText(done.due_at)}. Until then: easel admin delete --cancel ${done.id}`);
}

async function cancelDeletion(session: Session, deletionId: string): Promise<void> {
  const { body } = await session.api.personData.cancel({ params: { deletionId }, signal: session.shell.signal });
  session.answer(body, 'The deletion is canceled.');
}

export function addInstanceCommands(admin: Command, open: OpenSession): void {
  addLists(admin, open);
  addSwitches(admin, open);
  addPersonData(admin, open);
}

const QUERY = ['--query <text>', 'a part of what it is called, or a whole id'] as const;

function addLists(admin: Command, open: OpenSession): void {
  const listed = (name: string, summary: string) =>
    admin
      .command(name)
      .summary(summary)
      .option(...QUERY)
      .addOption(limitOption())
      .addHelpText('after', `\nExample:\n  easel admin ${name} --query acme`);
  listed('people', 'find accounts')
    .description('Lists the accounts of the installation, newest first.')
    .action(async (options, command) => people(await open(command), options));
  listed('workspaces', 'find workspaces')
    .description('Lists the workspaces of the installation, newest first.')
    .action(async (options, command) => workspaces(await open(command), options));
  listed('outbox', 'list the mail outbox')
    .description('Lists the mail outbox without the texts, newest first.')
    .addOption(new Option('--state <state>', 'only these').choices(['queued', 'failed', 'suppressed', 'sent']))
    .action(async (options, command) => outbox(await open(command), options));
  listed('jobs', 'list runs of jobs')
    .description('Lists runs of all jobs, or the jobs that are due next.')
    .addOption(new Option('--state <state>', 'which').choices(['queued', 'running', 'failed', 'next']).default('running'))
    .action(async (options, command) => jobs(await open(command), options));
  admin
    .command('audit')
    .summary('show what was done')
    .description('Lists what was done in the installation and all its workspaces, newest first.')
    .option('--action <action>', 'an action, or its resource with a dot')
    .option('--actor <id>', 'a person or an agent')
    .option('--target <id>', 'what was changed')
    .addOption(limitOption())
    .addHelpText('after', '\nExample:\n  easel admin audit --action person.')
    .action(async (options, command) => record(await open(command), options));
}

function addSwitches(admin: Command, open: OpenSession): void {
  const ID = ['<id>', 'of a person, a workspace or an artifact'] as const;
  admin
    .command('suspend')
    .summary('suspend a person, a workspace or a page')
    .description('Suspends what the id names; open connections end within a second. Nothing is removed.')
    .argument(...ID)
    .requiredOption('--reason <text>', 'told to the owner by mail')
    .addHelpText('after', '\nExample:\n  easel admin suspend art_k3vq7m2xw5tz4ndh6b2crpyf --reason "Phishing"')
    .action(async (id, { reason }, command) => suspend(await open(command), id, reason));
  admin
    .command('unsuspend')
    .summary('lift a suspension')
    .description('Lifts a suspension; everything is as it was.')
    .argument(...ID)
    .addHelpText('after', '\nExample:\n  easel admin unsuspend art_k3vq7m2xw5tz4ndh6b2crpyf')
    .action(async (id, _options, command) => suspend(await open(command), id, null));
  admin
    .command('sign-out')
    .summary('end all sessions of a person')
    .description('Ends all sessions of a person. Their tokens stay, and they can sign in again.')
    .argument('<user-id>', 'as "easel admin people" shows it')
    .addHelpText('after', '\nExample:\n  easel admin sign-out usr_m2xw5tz4ndh6b2crpyfk3vq7')
    .action(async (id, _options, command) => signOut(await open(command), id));
  admin
    .command('health')
    .summary('show the state of each part')
    .description('Shows the state of each part of the installation.')
    .addHelpText('after', '\nExample:\n  easel admin health')
    .action(async (_options, command) => health(await open(command)));
  admin
    .command('flags')
    .summary('show or switch what is offered')
    .description('Shows what the installation offers, or switches one of it on or off.')
    .argument('[name]', 'sign_up, anonymous_accounts, file_imports or ask')
    .argument('[value]', 'on or off')
    .addHelpText('after', '\nExamples:\n  easel admin flags\n  easel admin flags sign_up off')
    .action(async (name, value, _options, command) => flags(await open(command), name, value));
  admin
    .command('banner')
    .summary('show, put up or take down the banner')
    .description('Shows the banner, or puts one up that everybody sees.')
    .argument('[text]', 'what everybody is told')
    .addOption(new Option('--level <level>', 'how much it matters').choices(['info', 'warning', 'critical']).default('info'))
    .option('--from <time>', 'RFC 3339')
    .option('--to <time>', 'RFC 3339')
    .option('--clear', 'take it down')
    .addHelpText('after', '\nExamples:\n  easel admin banner "Away on Sunday" --level warning\n  easel admin banner --clear')
    .action(async (text, options, command) => banner(await open(command), text, options));
}

function addPersonData(admin: Command, open: OpenSession): void {
  admin
    .command('export')
    .summary('export a person’s data')
    .description('Has everything that the installation holds of a person written into a zip.')
    .argument('<user-id>', 'as "easel admin people" shows it')
    .addHelpText('after', '\nExample:\n  easel admin export usr_m2xw5tz4ndh6b2crpyfk3vq7')
    .action(async (id, _options, command) => exportPerson(await open(command), id));
  admin
    .command('delete')
    .summary('remove a person')
    .description('Has a person removed after a grace, or cancels that.')
    .argument('<id>', 'of the person; with --cancel, of the deletion')
    .option('--confirm <address>', 'the address of the account, or its id where it has none', '')
    .option('--heir <user-id>', 'who gets the artifacts; otherwise they are removed')
    .option('--grace <days>', 'days until it begins', Number)
    .option('--cancel', 'cancel the deletion with this id')
    .addHelpText('after', '\nExample:\n  easel admin delete usr_m2xw5tz4ndh6b2crpyfk3vq7 --confirm grace@example.com --grace 7')
    .action(async (id, options, command) => {
      const session = await open(command);
      await (options.cancel === true ? cancelDeletion(session, id) : deletePerson(session, id, options));
    });
}
