/** workspaces: list, create, show, update, delete, join, leave, members, invites. */
import { type Command, Option } from 'commander';
import { workspaceRole } from '../../../protocol/workspaces/workspaces.ts';
import { CliFailure } from './failures.ts';
import { collect, limitOption } from './paging.ts';
import type { OpenSession, Session } from './session.ts';
import { countText, tableText, timeText } from './text.ts';

type Role = (typeof workspaceRole.options)[number];

const WORKSPACE = ['<workspace>', 'slug or id'] as const;

async function list(session: Session, options: { limit: number }): Promise<void> {
  const { signal } = session.shell;
  const { items: workspaces, hasMore } = await collect(options.limit, async (query) => {
    const { body } = await session.api.workspaces.list({ query, signal });
    return { items: body.workspaces, next: body.next_cursor };
  });
  const rows = workspaces.map(({ slug, role, member_count, plan, name }) => [slug, role ?? '-', String(member_count), plan.tier, name]);
  const empty = 'You belong to no workspace yet. Begin with: easel workspaces create "My team"';
  session.answer(
    { workspaces, has_more: hasMore },
    rows.length === 0 ? empty : tableText(['SLUG', 'ROLE', 'MEMBERS', 'PLAN', 'NAME'], rows),
  );
  if (hasMore) session.remark(`There are more: easel workspaces list --limit ${options.limit * 2}`);
}

interface Fields {
  readonly slug?: string;
  readonly description?: string;
  readonly locale?: 'en' | 'es';
}

async function create(session: Session, name: string, { slug, description, locale }: Fields): Promise<void> {
  const made = (await session.api.workspaces.create({ body: { name, slug, description, locale }, signal: session.shell.signal })).body;
  const next = `Next: easel workspaces invite ${made.slug} somebody@example.com`;
  session.answer(made, `Made the workspace ${made.slug}. You own it.\n${next}`);
}

async function show(session: Session, workspaceId: string): Promise<void> {
  const found = (await session.api.workspaces.get({ params: { workspaceId }, signal: session.shell.signal })).body;
  const { slug, name, role, member_count, plan, description } = found;
  const lines = [`${name} (${slug}), plan ${plan.tier}, ${countText(member_count, 'member')}. You are ${role}.`];
  session.answer(found, [...lines, ...(description === null ? [] : [description])].join('\n'));
}

async function update(session: Session, workspaceId: string, options: Fields & { name?: string; accent?: string }): Promise<void> {
  const { accent, name, slug, description, locale } = options;
  const body = { name, slug, description, locale, ...(accent !== undefined && { branding: { accent_color: accent } }) };
  const changed = (await session.api.workspaces.update({ params: { workspaceId }, body, signal: session.shell.signal })).body;
  session.answer(changed, `Changed ${changed.slug}.`);
}

async function remove(session: Session, workspaceId: string, options: { yes?: boolean }): Promise<void> {
  const { signal } = session.shell;
  const { slug } = (await session.api.workspaces.get({ params: { workspaceId }, signal })).body;
  if (!options.yes) {
    throw new CliFailure(
      'usage',
      'CONFIRM',
      `This deletes the workspace ${slug} for all its members and moves its artifacts to the trash.`,
      'Add --yes.',
    );
  }
  const gone = (await session.api.workspaces.delete({ params: { workspaceId }, query: { confirm: slug }, signal })).body;
  const trashed = `${countText(gone.artifacts_trashed, 'artifact')} can be restored until ${timeText(gone.recoverable_until)}`;
  session.answer(gone, `Deleted ${slug}. ${trashed}: easel ls --trash`);
}

async function join(session: Session, workspaceId: string): Promise<void> {
  const joined = (await session.api.workspaces.join({ params: { workspaceId }, signal: session.shell.signal })).body;
  session.answer(joined, `Joined ${joined.slug} as ${joined.role}.`);
}

async function claim(session: Session, code: string): Promise<void> {
  const joined = (await session.api.invites.claim({ body: { code }, signal: session.shell.signal })).body;
  session.answer(joined, `Joined ${joined.slug} as ${joined.role}.`);
}

async function members(session: Session, workspaceId: string, options: { limit: number }): Promise<void> {
  const { signal } = session.shell;
  const { items, hasMore } = await collect(options.limit, async (query) => {
    const { body } = await session.api.members.list({ params: { workspaceId }, query, signal });
    return { items: body.members, next: body.next_cursor };
  });
  const rows = items.map(({ user_id, email, name, role, joined_at }) => [role, name ?? '-', email ?? '-', timeText(joined_at), user_id]);
  session.answer({ members: items, has_more: hasMore }, tableText(['ROLE', 'NAME', 'E-MAIL', 'JOINED', 'ID'], rows));
  if (hasMore) session.remark(`There are more: easel workspaces members ${workspaceId} --limit ${options.limit * 2}`);
}

/** A member by id or by e-mail address. */
export async function memberId(session: Session, workspaceId: string, who: string): Promise<string> {
  if (who.startsWith('usr_')) return who;
  const { signal } = session.shell;
  const { items } = await collect(Number.POSITIVE_INFINITY, async (query) => {
    const { body } = await session.api.members.list({ params: { workspaceId }, query, signal });
    return { items: body.members, next: body.next_cursor };
  });
  const found = items.find(({ email }) => email?.toLowerCase() === who.toLowerCase());
  if (found !== undefined) return found.user_id;
  throw new CliFailure(
    'missing',
    'USER_NOT_FOUND',
    `${who} is no member of ${workspaceId}.`,
    `easel workspaces members ${workspaceId} lists them.`,
  );
}

async function setRole(session: Session, workspaceId: string, who: string, given: string): Promise<void> {
  const role = workspaceRole.safeParse(given);
  if (!role.success) {
    throw new CliFailure('usage', 'INVALID_ROLE', `There is no role "${given}".`, `Choose ${workspaceRole.options.join(', ')}.`);
  }
  const params = { workspaceId, userId: await memberId(session, workspaceId, who) };
  const changed = (await session.api.members.update({ params, body: { role: role.data }, signal: session.shell.signal })).body;
  session.answer(changed, `${changed.name ?? changed.email ?? changed.user_id} is ${changed.role}.`);
}

async function removeMember(session: Session, workspaceId: string, who: string): Promise<void> {
  const params = { workspaceId, userId: await memberId(session, workspaceId, who) };
  const done = (await session.api.members.remove({ params, signal: session.shell.signal })).body;
  session.answer(done, `Removed ${who} from ${workspaceId}.`);
}

async function leave(session: Session, workspaceId: string): Promise<void> {
  const { signal } = session.shell;
  const { user } = (await session.api.accounts.me({ signal })).body;
  if (user === null) throw new CliFailure('usage', 'INVALID_USAGE', 'An agent cannot leave its workspace.', 'Use the token of a person.');
  const done = (await session.api.members.remove({ params: { workspaceId, userId: user.id }, signal })).body;
  session.answer(done, `You have left ${workspaceId}.`);
}

async function transfer(session: Session, workspaceId: string, who: string, options: { keepAs: 'admin' | 'member'; yes?: boolean }) {
  if (!options.yes) throw new CliFailure('usage', 'CONFIRM', `This makes ${who} the owner of ${workspaceId} in your place.`, 'Add --yes.');
  const user_id = await memberId(session, workspaceId, who);
  const body = { user_id, confirm: true, keep_as: options.keepAs } as const;
  const done = (await session.api.workspaces.transfer({ params: { workspaceId }, body, signal: session.shell.signal })).body;
  session.answer(done, `${who} owns ${workspaceId} now. You are ${options.keepAs}.`);
}

async function invite(session: Session, workspaceId: string, emails: string[], options: { role: Role }): Promise<void> {
  const body = { emails, role: options.role };
  const outcome = (await session.api.invites.create({ params: { workspaceId }, body, signal: session.shell.signal })).body;
  const lines = outcome.results.map(({ email, status, error }) => [email, status.replaceAll('_', ' '), error ?? '']);
  session.answer(outcome, tableText(['ADDRESS', 'OUTCOME', 'WHY'], lines));
}

async function invites(session: Session, workspaceId: string, options: { limit: number; open?: boolean }): Promise<void> {
  const { signal } = session.shell;
  const status = options.open ? ('pending' as const) : undefined;
  const { items, hasMore } = await collect(options.limit, async (query) => {
    const { body } = await session.api.invites.list({ params: { workspaceId }, query: { ...query, status }, signal });
    return { items: body.invites, next: body.next_cursor };
  });
  const rows = items.map(({ id, email, role, status: state, expires_at }) => [email, role, state, timeText(expires_at), id]);
  const text = rows.length === 0 ? 'No invitations.' : tableText(['ADDRESS', 'ROLE', 'STATUS', 'VALID UNTIL', 'ID'], rows);
  session.answer({ invites: items, has_more: hasMore }, text);
  if (hasMore) session.remark(`There are more: easel workspaces invites ${workspaceId} --limit ${options.limit * 2}`);
}

async function resend(session: Session, workspaceId: string, inviteId: string): Promise<void> {
  const sent = (await session.api.invites.resend({ params: { workspaceId, inviteId }, signal: session.shell.signal })).body;
  session.answer(sent, `Sent again to ${sent.email}, valid until ${timeText(sent.expires_at)}.`);
}

async function revoke(session: Session, workspaceId: string, inviteId: string): Promise<void> {
  const done = (await session.api.invites.revoke({ params: { workspaceId, inviteId }, signal: session.shell.signal })).body;
  session.answer(done, `Revoked ${inviteId}.`);
}

const roleOption = () => new Option('--role <role>', 'what they may do').choices(workspaceRole.options).default('member' satisfies Role);
const localeOption = () => new Option('--locale <language>', 'language of its mails').choices(['en', 'es']);

function addOwn(group: Command, open: OpenSession): void {
  group
    .command('list')
    .summary('list your workspaces')
    .description('Lists the workspaces that you belong to, newest first.')
    .addOption(limitOption())
    .addHelpText('after', '\nExamples:\n  easel workspaces list\n  easel workspaces list --json')
    .action(async (options, command) => list(await open(command), options));
  group
    .command('create')
    .summary('make a workspace')
    .description('Makes a workspace, which you own.')
    .argument('<name>', 'a name for people')
    .option('--slug <slug>', 'the name in addresses (default: made from the name)')
    .option('--description <text>', 'what it is about')
    .addOption(localeOption())
    .addHelpText('after', '\nExample:\n  easel workspaces create "Map makers" --slug maps')
    .action(async (name, options, command) => create(await open(command), name, options));
  group
    .command('show')
    .summary('show a workspace')
    .description('Shows a workspace and your role in it.')
    .argument(...WORKSPACE)
    .addHelpText('after', '\nExample:\n  easel workspaces show maps')
    .action(async (workspace, _options, command) => show(await open(command), workspace));
  group
    .command('update')
    .summary('change name, slug, description, language or colour')
    .description('Changes a workspace. Admins and owners may.')
    .argument(...WORKSPACE)
    .option('--name <name>', 'a name for people')
    .option('--slug <slug>', 'the name in addresses')
    .option('--description <text>', 'what it is about')
    .option('--accent <colour>', 'accent colour, for example #0b5fff')
    .addOption(localeOption())
    .addHelpText('after', '\nExample:\n  easel workspaces update maps --name "Map makers" --accent "#0b5fff"')
    .action(async (workspace, options, command) => update(await open(command), workspace, options));
  group
    .command('delete')
    .summary('delete a workspace')
    .description('Deletes a workspace. Its artifacts go to the trash of their owners, those of the workspace to yours.')
    .argument(...WORKSPACE)
    .option('--yes', 'really')
    .addHelpText('after', '\nExample:\n  easel workspaces delete maps --yes')
    .action(async (workspace, options, command) => remove(await open(command), workspace, options));
  group
    .command('join')
    .summary('join a workspace that is open to your address')
    .description('Joins a workspace whose access policy admits your e-mail address.')
    .argument(...WORKSPACE)
    .addHelpText('after', '\nExample:\n  easel workspaces join maps')
    .action(async (workspace, _options, command) => join(await open(command), workspace));
  group
    .command('claim')
    .summary('accept an invitation')
    .description('Joins the workspace of an invitation that was sent to your address.')
    .argument('<code>', 'the code or the link in the mail')
    .addHelpText('after', '\nExample:\n  easel workspaces claim abcde-fghij-kmnpq-rstuv')
    .action(async (code, _options, command) => claim(await open(command), code));
  group
    .command('leave')
    .summary('leave a workspace')
    .description('Leaves a workspace. What you own stays yours.')
    .argument(...WORKSPACE)
    .addHelpText('after', '\nExample:\n  easel workspaces leave maps')
    .action(async (workspace, _options, command) => leave(await open(command), workspace));
}

function addPeople(group: Command, open: OpenSession): void {
  const MEMBER = ['<who>', 'e-mail address or id'] as const;
  group
    .command('members')
    .summary('list the members')
    .description('Lists the members of a workspace, newest first.')
    .argument(...WORKSPACE)
    .addOption(limitOption())
    .addHelpText('after', '\nExample:\n  easel workspaces members maps')
    .action(async (workspace, options, command) => members(await open(command), workspace, options));
  group
    .command('role')
    .summary('change the role of a member')
    .description('Makes a member an owner, an admin or a plain member.')
    .argument(...WORKSPACE)
    .argument(...MEMBER)
    .argument('<role>', workspaceRole.options.join(', '))
    .addHelpText('after', '\nExample:\n  easel workspaces role maps ada@example.com admin')
    .action(async (workspace, who, role, _options, command) => setRole(await open(command), workspace, who, role));
  group
    .command('remove')
    .summary('remove a member')
    .description('Removes a member. What they own stays theirs.')
    .argument(...WORKSPACE)
    .argument(...MEMBER)
    .addHelpText('after', '\nExample:\n  easel workspaces remove maps ada@example.com')
    .action(async (workspace, who, _options, command) => removeMember(await open(command), workspace, who));
  group
    .command('transfer')
    .summary('make another member the owner')
    .description('Makes another member the owner in your place.')
    .argument(...WORKSPACE)
    .argument(...MEMBER)
    .addOption(new Option('--keep-as <role>', 'the role that you keep').choices(['admin', 'member']).default('admin'))
    .option('--yes', 'really')
    .addHelpText('after', '\nExample:\n  easel workspaces transfer maps ada@example.com --yes')
    .action(async (workspace, who, options, command) => transfer(await open(command), workspace, who, options));
  group
    .command('invite')
    .summary('invite people by mail')
    .description('Invites e-mail addresses, each with a mail of its own.')
    .argument(...WORKSPACE)
    .argument('<addresses...>', 'e-mail addresses')
    .addOption(roleOption())
    .addHelpText('after', '\nExample:\n  easel workspaces invite maps ada@example.com grace@example.com --role admin')
    .action(async (workspace, emails, options, command) => invite(await open(command), workspace, emails, options));
  group
    .command('invites')
    .summary('list the invitations')
    .description('Lists the invitations of a workspace, newest first.')
    .argument(...WORKSPACE)
    .option('--open', 'only those that can still be accepted')
    .addOption(limitOption())
    .addHelpText('after', '\nExample:\n  easel workspaces invites maps --open')
    .action(async (workspace, options, command) => invites(await open(command), workspace, options));
  group
    .command('resend')
    .summary('send an invitation again')
    .description('Sends an invitation again, with a new code.')
    .argument(...WORKSPACE)
    .argument('<invite>', 'its id')
    .addHelpText('after', '\nExample:\n  easel workspaces resend maps inv_…')
    .action(async (workspace, id, _options, command) => resend(await open(command), workspace, id));
  group
    .command('revoke')
    .summary('revoke an invitation')
    .description('Revokes an invitation at once.')
    .argument(...WORKSPACE)
    .argument('<invite>', 'its id')
    .addHelpText('after', '\nExample:\n  easel workspaces revoke maps inv_…')
    .action(async (workspace, id, _options, command) => revoke(await open(command), workspace, id));
}

export function addWorkspaceCommands(program: Command, open: OpenSession): void {
  program.commandsGroup('Workspaces');
  const group = program
    .command('workspaces')
    .summary('work with others in workspaces')
    .description('Makes workspaces, invites people and manages members.')
    .addHelpText('after', '\nExamples:\n  easel workspaces create "Map makers"\n  easel workspaces invite maps ada@example.com');
  addOwn(group, open);
  addPeople(group, open);
}
