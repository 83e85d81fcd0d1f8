/** The commands of `easel`, and the run of one command line. */
import { Command, CommanderError, Help } from 'commander';
import packageJson from '../../../package.json' with { type: 'json' };
import { addAccountCommands } from './account.ts';
import { addAdminCommands } from './admin.ts';
import { addAgentCommands } from './agents.ts';
import { addAlertCommands } from './alerts.ts';
import { addArtifactCommands } from './artifacts.ts';
import { addAskCommand } from './ask.ts';
import { addAssetCommands } from './assets.ts';
import { addBillingCommands } from './billing.ts';
import { addCatalogCommands } from './catalog.ts';
import { addCommentCommands } from './comments.ts';
import { addConnectionCommands } from './connections.ts';
import { addDataCommands } from './data.ts';
import { addDatasetCommands } from './datasets.ts';
import { addDocumentCommands } from './documents.ts';
import { addExternalSharingCommands } from './external-sharing.ts';
import { CliFailure, failureText, reportOf } from './failures.ts';
import { addFolderCommands } from './folders.ts';
import { fileFailure } from './given-files.ts';
import { guideText } from './guide.ts';
import { addHookCommands } from './hooks.ts';
import { addImportCommands } from './imports.ts';
import { addJobCommands } from './jobs.ts';
import { addMailCommands } from './mail.ts';
import { addNotificationCommands } from './notifications.ts';
import { addProxyCommands } from './proxy.ts';
import { addPublishCommand } from './publish.ts';
import { addRequestCommands } from './requests.ts';
import { addSearchCommand } from './search.ts';
import { type GlobalOptions, type OpenSession, openSession, type Shell } from './session.ts';
import { addSessionCommands } from './sessions.ts';
import { addSharingCommands } from './sharing.ts';
import { addSkillCommands } from './skills.ts';
import { addSupportCommands } from './support.ts';
import { addSystemMailCommands } from './system-mails.ts';
import { addTemplateCommands } from './templates.ts';
import { addVersionCommands } from './versions.ts';
import { addWorkspaceCommands } from './workspaces.ts';

/** All commands, in the order of the guide. */
export function buildProgram(shell: Shell, json: boolean): Command {
  const program = new Command('easel');
  const open: OpenSession = (command) => openSession(shell, command.optsWithGlobals<GlobalOptions>());
  program
    .version(packageJson.version, '--version')
    .option('--json', 'one JSON document on standard output; errors as JSON on standard error')
    .option('--url <address>', 'the server')
    .option('--account <name>', 'a saved account instead of the current one')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => shell.stdout.write(text),
      writeErr: (text) => void (json || shell.stderr.write(text)),
      // All failures are printed once, at the end of the run.
      outputError: () => undefined,
    })
    .configureHelp({
      showGlobalOptions: true,
      sortSubcommands: false,
      formatHelp: (command, helper) => (command === program ? guideText(program) : Help.prototype.formatHelp.call(helper, command, helper)),
    });
  addPublishCommand(program, open);
  addArtifactCommands(program, open);
  addAskCommand(program, open);
  addVersionCommands(program, open);
  addSharingCommands(program, open);
  addRequestCommands(program, open);
  addDataCommands(program, open);
  addDatasetCommands(program, open);
  addCommentCommands(program, open);
  addDocumentCommands(program, open);
  addAssetCommands(program, open);
  addMailCommands(program, open);
  addTemplateCommands(program, open);
  addJobCommands(program, open);
  addAlertCommands(program, open);
  addNotificationCommands(program, open);
  addSearchCommand(program, open);
  addWorkspaceCommands(program, open);
  addFolderCommands(program, open);
  addConnectionCommands(program, open);
  addImportCommands(program, open);
  addSkillCommands(program, open);
  addCatalogCommands(program, open);
  addSystemMailCommands(program, open);
  addAgentCommands(program, open);
  addExternalSharingCommands(program, open);
  addHookCommands(program, open);
  addProxyCommands(program, open);
  addBillingCommands(program, open);
  addAccountCommands(program, open);
  addSessionCommands(program, open);
  addSupportCommands(program, open);
  addAdminCommands(program, open);
  return program;
}

/** Converts commander's own errors, such as a missing argument or an unknown option. */
function asFailure(error: unknown): unknown {
  if (!(error instanceof CommanderError)) return fileFailure(error, 'used');
  const text = error.code === 'commander.help' ? 'a command is missing' : error.message.replace(/^error: /, '').replaceAll('\n', ' ');
  const sentence = `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.?!)]$/.test(text) ? '' : '.'}`;
  return new CliFailure('usage', 'INVALID_USAGE', sentence, '"easel help" shows every command.');
}

/** Checks `help <topic>`, because commander shows the general help for an unknown topic without naming it. */
function requireHelpTopic(program: Command, args: readonly string[]): void {
  const words = args.filter((word) => !word.startsWith('-'));
  let command = program;
  let isHelp = false;
  for (const [at, word] of words.entries()) {
    const inner = command.commands.find((each) => each.name() === word);
    if (inner !== undefined) command = inner;
    else if (!isHelp && word === 'help' && (command.commands.length > 0 || at === 0)) isHelp = true;
    else if (isHelp) {
      const topic = words.filter((each) => each !== 'help').join(' ');
      const known = command.commands.map((each) => each.name()).join(', ');
      const hint = command === program || known === '' ? '"easel help" shows every command.' : `It has: ${known}.`;
      throw new CliFailure('usage', 'INVALID_USAGE', `There is no command "${topic}".`, hint);
    } else return;
  }
}

/** Runs one command line (without node and script) and returns its exit code. */
export async function runCommandLine(shell: Shell, args: readonly string[]): Promise<number> {
  const json = args.includes('--json');
  const program = buildProgram(shell, json);
  if (args.length === 0) {
    program.outputHelp();
    return 0;
  }
  try {
    requireHelpTopic(program, args);
    await program.parseAsync(args, { from: 'user' });
    return 0;
  } catch (error) {
    // Commander throws for requested help as well, with exit code 0.
    if (error instanceof CommanderError && error.exitCode === 0) return 0;
    const report = reportOf(asFailure(error), shell.signal.aborted);
    shell.stderr.write(`${json ? JSON.stringify(report, null, 2) : failureText(report)}\n`);
    return report.exit_code;
  }
}
