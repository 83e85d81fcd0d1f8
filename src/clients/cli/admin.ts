/** admin provision and search, and the commands of admin-instance.ts: what administrators of an installation do. */
import type { Command } from 'commander';
import { addInstanceCommands } from './admin-instance.ts';
import { CliFailure } from './failures.ts';
import { readGivenJson } from './given-files.ts';
import type { OpenSession, Session } from './session.ts';
import { tableText } from './text.ts';

type ProvisionBody = Parameters<Session['api']['provisioning']['provision']>[0]['body'];

async function provision(session: Session, file: string): Promise<void> {
  const body = await readGivenJson<ProvisionBody>(file, session.shell.stdin);
  const { body: report } = await session.api.provisioning.provision({ body, signal: session.shell.signal });
  const steps = report.steps.map(({ step, status, error }) => [step, status, error ?? '']);
  const admins = report.admins.map(({ email, role, status, invite_url, error }) => [email, role, status, invite_url ?? error ?? '']);
  const head = `${report.created ? 'Created' : 'Found'} ${report.workspace.name} (${report.workspace.slug}, ${report.workspace.id}).`;
  const parts = [head, tableText(['STEP', 'STATUS', ''], steps), tableText(['ADMIN', 'ROLE', 'STATUS', ''], admins)];
  if (report.next_steps.length > 0) parts.push(`Next:\n${report.next_steps.map((line) => `  ${line}`).join('\n')}`);
  session.answer(report, parts.join('\n\n'));
  if (!report.ok)
    throw new CliFailure('unexpected', 'STEP_FAILED', 'At least one step failed.', 'Correct what it names and run the same command again.');
}

async function rebuildSearch(session: Session): Promise<void> {
  const { body } = await session.api.search.rebuild({ signal: session.shell.signal });
  session.answer(body, `${body.queued} ${body.queued === 1 ? 'artifact waits' : 'artifacts wait'} to be indexed.`);
}

export function addAdminCommands(program: Command, open: OpenSession): void {
  program.commandsGroup('Administration');
  const admin = program
    .command('admin')
    .summary('administer the installation')
    .description('What administrators of the installation do.')
    .addHelpText('after', '\nExamples:\n  easel admin provision acme.json\n  easel admin search rebuild');
  admin
    .command('provision')
    .summary('make a workspace ready for a customer')
    .description(
      'Makes the workspace that a JSON file describes, with its branding, policy, folders, admins and connectors. Run it again to complete what failed; what is there stays as it is.',
    )
    .argument('<file>', 'the description, as in POST /v1/admin/workspaces/provision ("-": standard input)')
    .addHelpText('after', '\nExamples:\n  easel admin provision acme.json\n  easel admin provision - < acme.json')
    .action(async (file, _options, command) => provision(await open(command), file));
  admin
    .command('search')
    .summary('the index of the search')
    .description('The index of what pages say.')
    .command('rebuild')
    .summary('index every page anew')
    .description('Queues every page to be indexed anew. The search goes on with what is there until then.')
    .addHelpText('after', '\nExample:\n  easel admin search rebuild')
    .action(async (_options, command) => rebuildSearch(await open(command)));
  addInstanceCommands(admin, open);
}
