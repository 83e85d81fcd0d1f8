/** skills: list, show, create, edit, propose, changes, diff, merge, reject, withdraw, attach, detach, uses. */
import type { Command } from 'commander';
import { ApiError } from '../sdk/client.ts';
import { artifactIdOf } from './artifact-name.ts';
import { CliFailure } from './failures.ts';
import { readGivenText } from './given-files.ts';
import { collect, limitOption } from './paging.ts';
import type { OpenSession, Session } from './session.ts';
import { tableText, timeText } from './text.ts';

const ID = /^skl_[a-z0-9]{24}$/;

async function listed(session: Session, workspaceId: string, limit: number) {
  return collect(limit, async (query) => {
    const { body } = await session.api.skills.list({ params: { workspaceId }, query, signal: session.shell.signal });
    return { items: body.skills, next: body.next_cursor };
  });
}

/** A skill is named by its id, or by `workspace/name`. */
async function skillIdOf(session: Session, given: string): Promise<string> {
  if (ID.test(given)) return given;
  const [workspace = '', ...rest] = given.split('/');
  const name = rest.join('/');
  if (name === '') throw new CliFailure('usage', 'INVALID_USAGE', `"${given}" names no skill.`, 'Give its id, or <workspace>/<name>.');
  const found = (await listed(session, workspace, Number.POSITIVE_INFINITY)).items.filter((one) => one.name === name);
  const [first] = found;
  if (first !== undefined && found.length === 1) return first.id;
  const hint = `"easel skills list ${workspace}" shows them with their ids.`;
  throw new CliFailure(
    'missing',
    'SKILL_NOT_FOUND',
    `${workspace} has ${found.length === 0 ? 'no skill' : 'several skills'} "${name}".`,
    hint,
  );
}

async function list(session: Session, workspaceId: string, { limit }: { readonly limit: number }): Promise<void> {
  const { items, hasMore } = await listed(session, workspaceId, limit);
  const rows = items.map((one) => [one.attached ? '*' : '', lineOf(one.name), String(one.version_no), lineOf(one.description), one.id]);
  const empty = `No skills yet. Begin with: easel skills create ${workspaceId} SKILL.md`;
  session.answer({ skills: items, has_more: hasMore }, rows.length === 0 ? empty : tableText(['', 'NAME', 'VERSION', 'ABOUT', 'ID'], rows));
  if (hasMore) session.remark(`There are more: easel skills list ${workspaceId} --limit ${limit * 2}`);
}

async function markdownOf(session: Session, skillId: string) {
  const reply = await session.api.skills.markdown({ params: { skillId }, signal: session.shell.signal });
  return { markdown: new TextDecoder().decode(reply.body), etag: reply.headers.get('etag') ?? undefined };
}

async function show(session: Session, name: string): Promise<void> {
  const skillId = await skillIdOf(session, name);
  const { body } = await session.api.skills.get({ params: { skillId }, signal: session.shell.signal });
  const { markdown } = await markdownOf(session, skillId);
  session.answer({ ...body, markdown }, markdown.trimEnd());
}

async function create(session: Session, workspaceId: string, file: string): Promise<void> {
  const markdown = await readGivenText(file, session.shell.stdin);
  const made = (await session.api.skills.create({ params: { workspaceId }, body: { markdown }, signal: session.shell.signal })).body;
  session.answer(made, `Made the skill ${lineOf(made.name)}: ${made.id}`);
  if (made.held !== undefined) session.remark('It is listed when owners or admins of the workspace have approved it.');
}

async function edit(session: Session, name: string, file: string): Promise<void> {
  const skillId = await skillIdOf(session, name);
  const { etag } = await markdownOf(session, skillId);
  const body = Buffer.from(await readGivenText(file, session.shell.stdin));
  const done = (await session.api.skills.putMarkdown({ params: { skillId }, body, ifMatch: etag, signal: session.shell.signal })).body;
  session.answer(done, `Published version ${done.version_no} of ${lineOf(done.name)}.`);
}

interface ProposeOptions {
  readonly title?: string;
  readonly note?: string;
}

async function propose(session: Session, name: string, file: string, { title, note }: ProposeOptions): Promise<void> {
  const skillId = await skillIdOf(session, name);
  const markdown = await readGivenText(file, session.shell.stdin);
  const body = { markdown, ...(title !== undefined && { title }), ...(note !== undefined && { note }) };
  const change = (await session.api.skillChanges.propose({ params: { skillId }, body, signal: session.shell.signal })).body;
  session.answer(change, `Proposed: ${change.id}\nAn approver sees it with: easel skills diff ${skillId} ${change.id}`);
}

async function changes(session: Session, name: string, options: { readonly limit: number; readonly all?: boolean }): Promise<void> {
  const skillId = await skillIdOf(session, name);
  const { items, hasMore } = await collect(options.limit, async (page) => {
    const query = { ...page, ...(!options.all && { status: 'open' as const }) };
    const { body } = await session.api.skillChanges.list({ params: { skillId }, query, signal: session.shell.signal });
    return { items: body.changes, next: body.next_cursor };
  });
  const rows = items.map((one) => [one.status, timeText(one.created_at), lineOf(one.author?.name ?? '-'), lineOf(one.title), one.id]);
  const text = rows.length === 0 ? 'Nothing is proposed.' : tableText(['STATUS', 'WHEN', 'BY', 'TITLE', 'ID'], rows);
  session.answer({ changes: items, has_more: hasMore }, text);
}

async function diff(session: Session, name: string, changeId: string): Promise<void> {
  const params = { skillId: await skillIdOf(session, name), changeId };
  const { body } = await session.api.skillChanges.get({ params, signal: session.shell.signal });
  const head = [`${lineOf(body.title)} (${body.status}, on version ${body.base_version_no})`, ...(body.note === '' ? [] : [body.note])];
  session.answer(body, [...head, '', body.diff?.trimEnd() ?? body.markdown.trimEnd()].join('\n'));
}

type Action = 'merge' | 'reject' | 'withdraw';
const DONE = { merge: 'Merged', reject: 'Rejected', withdraw: 'Withdrew' } as const;

async function decide(session: Session, name: string, changeId: string, action: Action): Promise<void> {
  const params = { skillId: await skillIdOf(session, name), changeId };
  try {
    const { body } = await session.api.skillChanges.decide({ params, body: { action }, signal: session.shell.signal });
    const version = body.version_no === null ? '' : ` It is version ${body.version_no}.`;
    session.answer(body, `${DONE[action]} ${lineOf(body.title)}.${version}`);
  } catch (error) {
    // Both sides of the conflict are what there is to go on with.
    if (error instanceof ApiError && error.conflict !== undefined) session.remark(error.conflict.trimEnd());
    throw error;
  }
}

async function attach(session: Session, name: string, artifact: string, isAttached: boolean): Promise<void> {
  const params = { id: await artifactIdOf(session, artifact), skillId: await skillIdOf(session, name) };
  const input = { params, signal: session.shell.signal };
  const { body } = await (isAttached ? session.api.skills.attach(input) : session.api.skills.detach(input));
  session.answer(body, `${isAttached ? 'Attached' : 'Detached'} ${name}.`);
}

async function uses(session: Session, name: string, { limit }: { readonly limit: number }): Promise<void> {
  const params = { skillId: await skillIdOf(session, name) };
  let workspace = false;
  const { items, hasMore } = await collect(limit, async (query) => {
    const { body } = await session.api.skills.uses({ params, query, signal: session.shell.signal });
    workspace = body.workspace;
    return { items: body.artifacts, next: body.next_cursor };
  });
  const lines = [...(workspace ? ['The whole workspace'] : []), ...items.map((one) => `${lineOf(one.name)}  ${one.id}`)];
  session.answer({ workspace, artifacts: items, has_more: hasMore }, lines.length === 0 ? 'Attached to nothing.' : lines.join('\n'));
  if (hasMore) session.remark(`There are more: add --limit ${limit * 2}.`);
}

/** Anybody of the workspace may have written it. */
function lineOf(text: string): string {
  return text.replace(/[\p{Cc}\u2028\u2029]+/gu, ' ');
}

const WORKSPACE = ['<workspace>', 'slug or id'] as const;
const SKILL = ['<skill>', 'id, or <workspace>/<name>'] as const;
const FILE = ['<file>', 'a Markdown file with front matter, or "-" for standard input'] as const;
const CHANGE = ['<change>', 'id of a proposed change'] as const;
const ARTIFACT = ['<artifact>', 'id, slug or folder'] as const;
const EXAMPLE = `
Example of a file:
  ---
  name: Release notes
  description: How we write the notes of a release.
  ---
  Say what changed for whom, then how.

Example:
  easel skills create acme SKILL.md`;

export function addSkillCommands(program: Command, open: OpenSession): void {
  program.commandsGroup('Workspaces');
  const group = program
    .command('skills')
    .summary('what a workspace knows how to do, as Markdown')
    .description(
      'Lists, reads, makes and changes skills. Members propose changes; owners and admins of the workspace, and owners of a skill, merge them.',
    );
  addSourceCommands(group, open);
  addChangeCommands(group, open);
  group
    .command('attach')
    .summary('attach to an artifact')
    .description('Attaches a skill to an artifact of the same workspace.')
    .argument(...SKILL)
    .argument(...ARTIFACT)
    .addHelpText('after', '\nExample:\n  easel skills attach "acme/Release notes" changelog')
    .action(async (name, artifact, _options, command) => attach(await open(command), name, artifact, true));
  group
    .command('detach')
    .summary('detach from an artifact')
    .description('Detaches a skill from an artifact.')
    .argument(...SKILL)
    .argument(...ARTIFACT)
    .addHelpText('after', '\nExample:\n  easel skills detach "acme/Release notes" changelog')
    .action(async (name, artifact, _options, command) => attach(await open(command), name, artifact, false));
  group
    .command('uses')
    .summary('what a skill is attached to')
    .description(
      'Lists the artifacts that a skill is attached to, as far as you see them, and whether it is attached to the whole workspace.',
    )
    .argument(...SKILL)
    .addOption(limitOption())
    .addHelpText('after', '\nExample:\n  easel skills uses "acme/Release notes"')
    .action(async (name, options, command) => uses(await open(command), name, options));
}

function addSourceCommands(group: Command, open: OpenSession): void {
  group
    .command('list')
    .summary('list skills')
    .description('Lists the skills of a workspace, last changed first. Those attached to the workspace as a whole have a *.')
    .argument(...WORKSPACE)
    .addOption(limitOption())
    .addHelpText('after', '\nExample:\n  easel skills list acme')
    .action(async (workspace, options, command) => list(await open(command), workspace, options));
  group
    .command('show')
    .summary('print the Markdown')
    .description('Prints the Markdown of a skill.')
    .argument(...SKILL)
    .addHelpText('after', '\nExample:\n  easel skills show "acme/Release notes" > SKILL.md')
    .action(async (name, _options, command) => show(await open(command), name));
  group
    .command('create')
    .summary('make a skill')
    .description('Publishes a Markdown file as a skill of a workspace.')
    .argument(...WORKSPACE)
    .argument(...FILE)
    .addHelpText('after', EXAMPLE)
    .action(async (workspace, file, _options, command) => create(await open(command), workspace, file));
  group
    .command('edit')
    .summary('publish another version')
    .description('Publishes a Markdown file as the next version, for approvers.')
    .argument(...SKILL)
    .argument(...FILE)
    .addHelpText('after', '\nExample:\n  easel skills edit "acme/Release notes" SKILL.md')
    .action(async (name, file, _options, command) => edit(await open(command), name, file));
}

function addChangeCommands(group: Command, open: OpenSession): void {
  group
    .command('propose')
    .summary('propose a change')
    .description('Proposes a Markdown file in place of the live version.')
    .argument(...SKILL)
    .argument(...FILE)
    .option('--title <text>', 'what it is about')
    .option('--note <text>', 'why')
    .addHelpText('after', '\nExample:\n  easel skills propose "acme/Release notes" SKILL.md --title "Name the issue"')
    .action(async (name, file, options, command) => propose(await open(command), name, file, options));
  group
    .command('changes')
    .summary('list proposed changes')
    .description('Lists what is proposed to a skill, newest first.')
    .argument(...SKILL)
    .option('--all', 'with those that are merged, rejected or withdrawn')
    .addOption(limitOption())
    .addHelpText('after', '\nExample:\n  easel skills changes "acme/Release notes"')
    .action(async (name, options, command) => changes(await open(command), name, options));
  group
    .command('diff')
    .summary('show a proposed change')
    .description('Shows what a proposed change adds and removes.')
    .argument(...SKILL)
    .argument(...CHANGE)
    .addHelpText('after', '\nExample:\n  easel skills diff "acme/Release notes" skc_…')
    .action(async (name, change, _options, command) => diff(await open(command), name, change));
  for (const [action, summary, description] of [
    ['merge', 'publish a proposed change', 'Joins a proposed change with the live version and publishes it. A conflict shows both sides.'],
    ['reject', 'reject a proposed change', 'Closes a proposed change without publishing it, for approvers.'],
    ['withdraw', 'withdraw your proposed change', 'Closes a change that you have proposed.'],
  ] as const) {
    group
      .command(action)
      .summary(summary)
      .description(description)
      .argument(...SKILL)
      .argument(...CHANGE)
      .addHelpText('after', `\nExample:\n  easel skills ${action} "acme/Release notes" skc_…`)
      .action(async (name, change, _options, command) => decide(await open(command), name, change, action));
  }
}
