/** templates: list, show, create, update, delete, preview, rehearse. Descriptions and values come from JSON files. */
import type { Command } from 'commander';
import { artifactIdOf } from './artifact-name.ts';
import { CliFailure } from './failures.ts';
import { readGivenJson } from './given-files.ts';
import { collect, limitOption } from './paging.ts';
import type { OpenSession, Session } from './session.ts';
import { tableText, timeText } from './text.ts';

type Templates = Session['api']['templates'];
type Template = Awaited<ReturnType<Templates['get']>>['body']['data']['template'];
type Values = NonNullable<Parameters<Templates['preview']>[0]['body']['data']>;

const ID = /^tpl_[a-z0-9]{24}$/;

async function listed(session: Session, limit: number, artifact?: string) {
  const artifact_id = artifact === undefined ? undefined : await artifactIdOf(session, artifact);
  return collect(limit, async (page) => {
    const query = { ...page, ...(artifact_id !== undefined && { artifact_id }) };
    const { data } = (await session.api.templates.list({ query, signal: session.shell.signal })).body;
    return { items: data.templates, next: data.next_cursor };
  });
}

async function templateIdOf(session: Session, name: string): Promise<string> {
  if (ID.test(name)) return name;
  const { items } = await listed(session, Number.POSITIVE_INFINITY);
  const found = items.filter((template) => template.name === name);
  const [first] = found;
  if (first !== undefined && found.length === 1) return first.id;
  if (first !== undefined) {
    throw new CliFailure(
      'usage',
      'AMBIGUOUS',
      `You have ${found.length} templates "${name}".`,
      `Give the id of one: ${found.map(({ id }) => id).join(', ')}.`,
    );
  }
  throw new CliFailure('missing', 'TEMPLATE_NOT_FOUND', `You have no template "${name}".`, '"easel templates list" lists yours.');
}

async function list(session: Session, { limit, artifact }: { readonly limit: number; readonly artifact?: string }): Promise<void> {
  const { items, hasMore } = await listed(session, limit, artifact);
  const rows = items.map((one) => [one.name, one.artifact_id ?? 'account', timeText(new Date(one.updated_at).toISOString()), one.id]);
  const empty = 'No templates yet. Begin with: easel templates create template.json';
  session.answer({ templates: items, has_more: hasMore }, rows.length === 0 ? empty : tableText(['NAME', 'OF', 'CHANGED', 'ID'], rows));
}

async function show(session: Session, name: string): Promise<void> {
  const { template } = (
    await session.api.templates.get({ params: { templateId: await templateIdOf(session, name) }, signal: session.shell.signal })
  ).body.data;
  session.answer(template, sourcesText(template));
}

function sourcesText({ name, subject, html, text_body, variables }: Template): string {
  const declared = variables.map(({ name: variable, type, required }) => `  ${variable} (${type}${required ? ', required' : ''})`);
  const parts = [`${name}\nSubject: ${subject}`, html, ...(text_body === '' ? [] : [text_body])];
  return [...parts, ...(declared.length === 0 ? [] : [`Variables:\n${declared.join('\n')}`])].join('\n\n');
}

async function create(session: Session, file: string, { artifact }: { readonly artifact?: string }): Promise<void> {
  const given = await readGivenJson<Parameters<Templates['create']>[0]['body']>(file, session.shell.stdin);
  const body = artifact === undefined ? given : { ...given, artifact_id: await artifactIdOf(session, artifact) };
  const { template } = (await session.api.templates.create({ body, signal: session.shell.signal })).body.data;
  session.answer(template, `Made the template ${template.name}: ${template.id}`);
}

async function update(session: Session, name: string, file: string): Promise<void> {
  const params = { templateId: await templateIdOf(session, name) };
  const body = await readGivenJson<Parameters<Templates['update']>[0]['body']>(file, session.shell.stdin);
  const { template } = (await session.api.templates.update({ params, body, signal: session.shell.signal })).body.data;
  session.answer(template, `Changed ${template.name}.`);
}

async function remove(session: Session, name: string): Promise<void> {
  const params = { templateId: await templateIdOf(session, name) };
  const done = (await session.api.templates.delete({ params, signal: session.shell.signal })).body;
  session.answer(done, `Deleted ${name}.`);
}

async function preview(session: Session, name: string, file: string | undefined): Promise<void> {
  const params = { templateId: await templateIdOf(session, name) };
  const data = file === undefined ? {} : await readGivenJson<Values>(file, session.shell.stdin);
  const shown = (await session.api.templates.preview({ params, body: { data }, signal: session.shell.signal })).body.data;
  session.answer(shown, `Subject: ${shown.subject}\n\n${shown.text}`);
  for (const warning of shown.warnings) session.remark(warning);
}

interface RehearseOptions {
  readonly to: readonly string[];
  readonly artifact?: string;
  readonly data?: string;
}

async function rehearse(session: Session, name: string, { to, artifact, data }: RehearseOptions): Promise<void> {
  const body = {
    to: [...to],
    ...(artifact !== undefined && { artifact_id: await artifactIdOf(session, artifact) }),
    ...(data !== undefined && { data: await readGivenJson<Values>(data, session.shell.stdin) }),
  };
  const params = { templateId: await templateIdOf(session, name) };
  const would = (await session.api.templates.rehearse({ params, body, signal: session.shell.signal })).body.data;
  const rows = would.would.send.map((mail) => [mail.to, mail.status === 'queued' ? 'gets it' : 'gets no mail of this page', mail.subject]);
  const refused = would.refused === null ? '' : `Nothing would be sent: ${would.refused.error} (${would.refused.code})`;
  session.answer(would, refused === '' ? tableText(['TO', 'WHAT HAPPENS', 'SUBJECT'], rows) : refused);
  for (const warning of would.warnings) session.remark(warning);
}

const TEMPLATE = ['<template>', 'name or id'] as const;
const OF = ['-a, --artifact <id|slug|folder>', 'of this artifact instead of the account'] as const;
const EXAMPLE = `
Example of a file:
  {"name": "News", "subject": "News for {{data.name}}", "html": "<p>Hello {{data.name}}</p>",
   "variables": [{"name": "name", "type": "string", "required": true}]}

Examples:
  easel templates create news.json
  easel templates create - < news.json`;

export function addTemplateCommands(program: Command, open: OpenSession): void {
  program.commandsGroup('Automation');
  const group = program
    .command('templates')
    .summary('texts of mails with values in them')
    .description('Lists, makes, changes and tries templates of mails: {{data.name}} is a value.');
  group
    .command('list')
    .summary('list templates')
    .description('Lists the templates of the account and of its artifacts, last changed first.')
    .option('-a, --artifact <id|slug|folder>', 'with those of this artifact')
    .addOption(limitOption())
    .addHelpText('after', '\nExample:\n  easel templates list')
    .action(async (options, command) => list(await open(command), options));
  group
    .command('show')
    .summary('show a template')
    .description('Shows the sources and variables of a template.')
    .argument(...TEMPLATE)
    .addHelpText('after', '\nExample:\n  easel templates show News --json')
    .action(async (name, _options, command) => show(await open(command), name));
  group
    .command('create')
    .summary('make a template from a JSON file')
    .description('Makes the template that a JSON file describes.')
    .argument('<file>', 'the description ("-": standard input)')
    .option(...OF)
    .addHelpText('after', EXAMPLE)
    .action(async (file, options, command) => create(await open(command), file, options));
  group
    .command('update')
    .summary('change a template')
    .description('Changes what a JSON file names: name, subject, html, text_body, variables.')
    .argument(...TEMPLATE)
    .argument('<file>', 'the changes ("-": standard input)')
    .addHelpText('after', '\nExample:\n  easel templates update News changes.json')
    .action(async (name, file, _options, command) => update(await open(command), name, file));
  group
    .command('delete')
    .summary('delete a template')
    .description('Deletes a template.')
    .argument(...TEMPLATE)
    .addHelpText('after', '\nExample:\n  easel templates delete News')
    .action(async (name, _options, command) => remove(await open(command), name));
  addTrials(group, open);
}

function addTrials(group: Command, open: OpenSession): void {
  group
    .command('preview')
    .summary('show a template with values')
    .description('Shows subject and text of a template with values; --json also the HTML.')
    .argument(...TEMPLATE)
    .argument('[file]', 'JSON with the values ("-": standard input)')
    .addHelpText('after', '\nExample:\n  easel templates preview News values.json')
    .action(async (name, file, _options, command) => preview(await open(command), name, file));
  group
    .command('rehearse')
    .summary('see to whom a mail would go, without sending it')
    .description('Shows who would get a mail with this template and what stands in the way. Nothing is sent or counted.')
    .argument(...TEMPLATE)
    .option('--to <address>', 'a recipient; once for each', (value: string, before: readonly string[]) => [...before, value], [])
    .option('-a, --artifact <id|slug|folder>', 'on behalf of which; not needed with a template of an artifact')
    .option('--data <file>', 'JSON with the values ("-": standard input)')
    .addHelpText('after', '\nExample:\n  easel templates rehearse News -a my-site --to ada@example.com --data values.json')
    .action(async (name, options, command) => rehearse(await open(command), name, options));
}
