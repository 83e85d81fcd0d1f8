/** The commands of `easel`, and one run of them. */
import { Command, CommanderError, Help } from 'commander';
import packageJson from '../../../package.json' with { type: 'json' };
import { addAccountCommands } from './account.ts';
import { addArtifactCommands } from './artifacts.ts';
import { addCommentCommands } from './comments.ts';
import { addDataCommands } from './data.ts';
import { addDocumentCommands } from './documents.ts';
import { CliFailure, failureText, reportOf } from './failures.ts';
import { guideText } from './guide.ts';
import { addPublishCommand } from './publish.ts';
import { type GlobalOptions, type OpenSession, openSession, type Shell } from './session.ts';
import { addVersionCommands } from './versions.ts';

/** Every command, in the order of the guide. */
export function buildProgram(shell: Shell, json: boolean): Command {
  const program = new Command('easel');
  const open: OpenSession = (command) => openSession(shell, command.optsWithGlobals<GlobalOptions>());
  program
    .version(packageJson.version, '--version')
    .option('--json', 'one JSON document on standard output; errors as JSON on standard error')
    .option('--url <address>', 'the server')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => shell.stdout.write(text),
      writeErr: (text) => void (json || shell.stderr.write(text)),
      // Printed once, with every other failure, at the end of the run.
      outputError: () => undefined,
    })
    .configureHelp({
      showGlobalOptions: true,
      sortSubcommands: false,
      formatHelp: (command, helper) => (command === program ? guideText(program) : Help.prototype.formatHelp.call(helper, command, helper)),
    });
  addPublishCommand(program, open);
  addArtifactCommands(program, open);
  addVersionCommands(program, open);
  addDataCommands(program, open);
  addCommentCommands(program, open);
  addDocumentCommands(program, open);
  addAccountCommands(program, open);
  return program;
}

/** Commander's own refusals (a missing argument, an unknown option) as ours. */
function asFailure(error: unknown): unknown {
  if (!(error instanceof CommanderError)) return error;
  const text = error.code === 'commander.help' ? 'a command is missing' : error.message.replace(/^error: /, '').replaceAll('\n', ' ');
  const sentence = `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.?!)]$/.test(text) ? '' : '.'}`;
  return new CliFailure('usage', 'INVALID_USAGE', sentence, '"easel help" shows every command.');
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
    await program.parseAsync(args, { from: 'user' });
    return 0;
  } catch (error) {
    // Help that was asked for ends the same way as a refusal, but with exit code 0.
    if (error instanceof CommanderError && error.exitCode === 0) return 0;
    const report = reportOf(asFailure(error), shell.signal.aborted);
    shell.stderr.write(`${json ? JSON.stringify(report, null, 2) : failureText(report)}\n`);
    return report.exit_code;
  }
}
