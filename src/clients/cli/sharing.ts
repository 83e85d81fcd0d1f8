/** share, collaborators, transfer: who else sees and edits an artifact, and whose it is. */
import { type Command, Option } from 'commander';
import { type CollaboratorRole, collaboratorRole } from '../../../protocol/sharing/collaborators.ts';
import { artifactIdOf, artifactOption } from './artifact-name.ts';
import { CliFailure } from './failures.ts';
import { collect, limitOption } from './paging.ts';
import type { OpenSession, Session } from './session.ts';
import { tableText, timeText } from './text.ts';

interface OnArtifact {
  readonly artifact?: string;
}

/** Grants that are shown below the collaborators. */
const OTHERS_SHOWN = 100;

type Outcome = Awaited<ReturnType<Session['api']['collaborators']['add']>>['body']['results'][number];

const WHAT: Readonly<Record<Outcome['status'], string>> = {
  added: 'added',
  pending: 'added, once an account proves the address',
  raised: 'has a higher role now',
  unchanged: 'had it already',
  owner: 'owns it',
};

function outcomesText(results: readonly Outcome[]): string {
  return tableText(
    ['ADDRESS', 'ROLE', ''],
    results.map(({ email, role, status }) => [email, role, WHAT[status]]),
  );
}

async function share(session: Session, recipients: string[], options: OnArtifact & { role: CollaboratorRole; message?: string }) {
  const id = await artifactIdOf(session, options.artifact);
  const body = { recipients, role: options.role, message: options.message };
  const done = (await session.api.collaborators.share({ params: { id }, body, signal: session.shell.signal })).body;
  session.answer(done, outcomesText(done.results));
  session.remark(`Mails sent: ${done.sent}.`);
}

async function list(session: Session, options: OnArtifact & { limit: number }): Promise<void> {
  const { signal } = session.shell;
  const id = await artifactIdOf(session, options.artifact);
  let owner: Awaited<ReturnType<Session['api']['collaborators']['list']>>['body']['owner'] = null;
  const { items: collaborators, hasMore } = await collect(options.limit, async (query) => {
    const { body } = await session.api.collaborators.list({ params: { id }, query, signal });
    owner = body.owner;
    return { items: body.collaborators, next: body.next_cursor };
  });
  const first = owner === null ? [] : [ownerLine(owner)];
  const rows = collaborators.map((one) => [
    one.pending ? `${one.role}, not signed in yet` : one.role,
    one.name ?? '-',
    one.email ?? one.user_id ?? '-',
    timeText(one.added_at),
  ]);
  const { members, counts_outside, grants } = (await session.api.access.list({ params: { id }, query: { limit: OTHERS_SHOWN }, signal }))
    .body;
  const others = grants.map((grant) => [
    `${grant.capability}, ${counts_outside ? 'outside' : 'outside, off now'}`,
    ...['-', grant.subject_name],
    grant.resource_type === 'folder' ? `by folder ${grant.resource_name ?? 'that you do not see'}` : timeText(grant.created_at),
  ]);
  const everybody = members ? [['viewer', '-', 'every member of its workspace', '']] : [];
  const lines = [...first, ...rows, ...everybody, ...others];
  session.answer(
    { owner, collaborators, others: { members, counts_outside, grants }, has_more: hasMore },
    tableText(['ROLE', 'NAME', 'WHO', 'ADDED'], lines),
  );
  if (hasMore) session.remark(`There are more: easel collaborators list --limit ${options.limit * 2}`);
}

function ownerLine({ name, email, user_id }: { readonly name: string | null; readonly email: string | null; readonly user_id: string }) {
  return ['owner', name ?? '-', email ?? user_id, ''];
}

async function add(session: Session, emails: string[], options: OnArtifact & { role: CollaboratorRole }): Promise<void> {
  const id = await artifactIdOf(session, options.artifact);
  const body = { emails, role: options.role };
  const done = (await session.api.collaborators.add({ params: { id }, body, signal: session.shell.signal })).body;
  session.answer(done, outcomesText(done.results));
}

async function setRole(session: Session, email: string, given: string, options: OnArtifact): Promise<void> {
  const role = collaboratorRole.safeParse(given);
  if (!role.success) {
    throw new CliFailure('usage', 'INVALID_ROLE', `There is no role "${given}".`, `Choose ${collaboratorRole.options.join(' or ')}.`);
  }
  const id = await artifactIdOf(session, options.artifact);
  const changed = (
    await session.api.collaborators.update({ params: { id, email }, body: { role: role.data }, signal: session.shell.signal })
  ).body;
  session.answer(changed, `${changed.email ?? changed.user_id} is ${changed.role}.`);
}

async function remove(session: Session, email: string, options: OnArtifact): Promise<void> {
  const id = await artifactIdOf(session, options.artifact);
  const done = (await session.api.collaborators.remove({ params: { id, email }, signal: session.shell.signal })).body;
  const left = done.remaining_role === null ? 'They have no access any more.' : `By other rules they are still ${done.remaining_role}.`;
  session.answer(done, `Removed ${email}. ${left}`);
}

async function leave(session: Session, options: OnArtifact): Promise<void> {
  const { signal } = session.shell;
  const id = await artifactIdOf(session, options.artifact);
  const { user } = (await session.api.accounts.me({ signal })).body;
  if (user === null) throw new CliFailure('usage', 'INVALID_USAGE', 'An agent is no collaborator.', 'Use the token of a person.');
  const done = (await session.api.collaborators.remove({ params: { id, email: user.id }, signal })).body;
  session.answer(done, 'You are no collaborator any more.');
}

type Kept = 'editor' | 'viewer' | 'none';

async function transfer(session: Session, email: string, options: OnArtifact & { keepAs: Kept; yes?: boolean }): Promise<void> {
  if (!options.yes) throw new CliFailure('usage', 'CONFIRM', `This makes ${email} the owner of the artifact in your place.`, 'Add --yes.');
  const id = await artifactIdOf(session, options.artifact);
  const body = { email, confirm: true, keep_as: options.keepAs } as const;
  const done = (await session.api.collaborators.transfer({ params: { id }, body, signal: session.shell.signal })).body;
  session.answer(done, `${email} owns it now. ${options.keepAs === 'none' ? 'You keep no role.' : `You are ${options.keepAs}.`}`);
}

const roleOption = () =>
  new Option('--role <role>', 'what they may do').choices(collaboratorRole.options).default('viewer' satisfies CollaboratorRole);
const WHO = ['<email>', 'their address'] as const;

function addGroup(program: Command, open: OpenSession): void {
  const group = program
    .command('collaborators')
    .summary('who else sees and edits an artifact')
    .description('People with whom an artifact is shared by name.');
  group
    .command('list')
    .summary('list the owner and the collaborators')
    .description('Lists whose the artifact is and whom it is shared with, last added first.')
    .addOption(artifactOption())
    .addOption(limitOption())
    .addHelpText('after', '\nExample:\n  easel collaborators list -a my-page')
    .action(async (options, command) => list(await open(command), options));
  group
    .command('add')
    .summary('add people without a mail')
    .description('Gives addresses a role, also of people without an account. "easel share" mails them as well.')
    .argument('<email...>', 'addresses')
    .addOption(roleOption())
    .addOption(artifactOption())
    .addHelpText('after', '\nExample:\n  easel collaborators add ada@example.com --role editor')
    .action(async (emails, options, command) => add(await open(command), emails, options));
  group
    .command('role')
    .summary('change what somebody may do')
    .description('Makes a collaborator a viewer or an editor.')
    .argument(...WHO)
    .argument('<role>', collaboratorRole.options.join(', '))
    .addOption(artifactOption())
    .addHelpText('after', '\nExample:\n  easel collaborators role ada@example.com viewer')
    .action(async (email, role, options, command) => setRole(await open(command), email, role, options));
  group
    .command('remove')
    .summary('remove somebody')
    .description('Ends the access that somebody has as a collaborator, at once.')
    .argument(...WHO)
    .addOption(artifactOption())
    .addHelpText('after', '\nExample:\n  easel collaborators remove ada@example.com')
    .action(async (email, options, command) => remove(await open(command), email, options));
  group
    .command('leave')
    .summary('remove yourself')
    .description('Ends your own access as a collaborator.')
    .addOption(artifactOption())
    .addHelpText('after', '\nExample:\n  easel collaborators leave -a their-page')
    .action(async (options, command) => leave(await open(command), options));
}

export function addSharingCommands(program: Command, open: OpenSession): void {
  program.commandsGroup('Share');
  program
    .command('share')
    .summary('share an artifact by mail')
    .description('Gives up to ten addresses a role and mails each of them.')
    .argument('<email...>', 'addresses')
    .addOption(roleOption())
    .option('--message <text>', 'words of yours in the mail')
    .addOption(artifactOption())
    .addHelpText(
      'after',
      '\nExamples:\n  easel share ada@example.com\n  easel share ada@example.com grace@example.com --role editor --message "Have a look"',
    )
    .action(async (emails, options, command) => share(await open(command), emails, options));
  addGroup(program, open);
  program
    .command('transfer')
    .summary('give an artifact to somebody else')
    .description('Makes another person the owner. They need an account; what the artifact stores counts for them.')
    .argument(...WHO)
    .addOption(new Option('--keep-as <role>', 'the role that you keep').choices(['editor', 'viewer', 'none']).default('editor'))
    .option('--yes', 'really')
    .addOption(artifactOption())
    .addHelpText('after', '\nExample:\n  easel transfer ada@example.com --keep-as viewer --yes')
    .action(async (email, options, command) => transfer(await open(command), email, options));
}
