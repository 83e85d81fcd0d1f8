/** service-mails: list, show, set, reset. What a workspace sends instead of the service's own mails. */
import { Argument, type Command } from 'commander';
import { mailLocale, systemMailKind } from '../../../protocol/automation/templates.ts';
import { readGivenJson } from './given-files.ts';
import type { OpenSession, Session } from './session.ts';
import { tableText } from './text.ts';

type SystemMails = Session['api']['systemMails'];
type Named = Parameters<SystemMails['get']>[0]['params'];

async function list(session: Session, workspaceId: string): Promise<void> {
  const { mails } = (await session.api.systemMails.list({ params: { workspaceId }, signal: session.shell.signal })).body.data;
  const rows = mails.map(({ kind, locale, is_system, subject }) => [kind, locale, is_system ? 'built-in' : 'own', subject]);
  session.answer({ mails }, tableText(['KIND', 'LANGUAGE', 'TEXT', 'SUBJECT'], rows));
}

async function show(session: Session, params: Named): Promise<void> {
  const { data } = (await session.api.systemMails.get({ params, signal: session.shell.signal })).body;
  const values = data.variables.map(({ name, description }) => `  {{data.${name}}}  ${description ?? ''}`);
  session.answer(data, `Subject: ${data.subject}\n\n${data.text_body}\nValues:\n${values.join('\n')}`);
}

async function set(session: Session, params: Named, file: string): Promise<void> {
  const body = await readGivenJson<Parameters<SystemMails['put']>[0]['body']>(file, session.shell.stdin);
  const { data } = (await session.api.systemMails.put({ params, body, signal: session.shell.signal })).body;
  session.answer(data, `The workspace has its own text for ${data.kind} (${data.locale}).`);
}

async function reset(session: Session, params: Named): Promise<void> {
  const done = (await session.api.systemMails.reset({ params, signal: session.shell.signal })).body;
  session.answer(done, `${params.kind} (${params.locale}) is the built-in text again.`);
}

const WORKSPACE = ['<workspace>', 'slug or id'] as const;
const kind = () => new Argument('<kind>', 'which mail').choices(systemMailKind.options);
const language = () => new Argument('<language>', 'en or es').choices(mailLocale.options);

export function addSystemMailCommands(program: Command, open: OpenSession): void {
  program.commandsGroup('Workspaces');
  const group = program
    .command('service-mails')
    .summary('the mails of the service in a workspace')
    .description('Lists and replaces the invitations, alerts and notices that a workspace sends.');
  group
    .command('list')
    .summary('list them')
    .description('Lists the mails of the service, and which of them the workspace has its own text for.')
    .argument(...WORKSPACE)
    .addHelpText('after', '\nExample:\n  easel service-mails list maps')
    .action(async (workspaceId, _options, command) => list(await open(command), workspaceId));
  group
    .command('show')
    .summary('show one')
    .description('Shows a mail and the values that it can have; --json also its HTML.')
    .argument(...WORKSPACE)
    .addArgument(kind())
    .addArgument(language())
    .addHelpText('after', '\nExample:\n  easel service-mails show maps invite en --json')
    .action(async (workspaceId, which, locale, _options, command) => show(await open(command), { workspaceId, kind: which, locale }));
  group
    .command('set')
    .summary('replace one')
    .description(
      'Replaces a mail by what a JSON file has: subject, html and, where it is not to be made from the HTML, text_body. Both texts need {{data.url}}.',
    )
    .argument(...WORKSPACE)
    .addArgument(kind())
    .addArgument(language())
    .argument('<file>', 'the texts ("-": standard input)')
    .addHelpText('after', '\nExample:\n  easel service-mails set maps invite en invite.json')
    .action(async (workspaceId, which, locale, file, _options, command) =>
      set(await open(command), { workspaceId, kind: which, locale }, file),
    );
  group
    .command('reset')
    .summary('take the built-in text again')
    .description('Takes the built-in text of a mail again.')
    .argument(...WORKSPACE)
    .addArgument(kind())
    .addArgument(language())
    .addHelpText('after', '\nExample:\n  easel service-mails reset maps invite en')
    .action(async (workspaceId, which, locale, _options, command) => reset(await open(command), { workspaceId, kind: which, locale }));
}
