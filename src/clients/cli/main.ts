#!/usr/bin/env node
/** `easel`: parses the command line, runs one command, returns its exit code. */
import process from 'node:process';
import { Command, CommanderError, Help } from 'commander';
import packageJson from '../../../package.json' with { type: 'json' };
import { addAccountCommands } from './account.ts';
import { addArtifactCommands } from './artifacts.ts';
import { addDataCommands } from './data.ts';
import { CliFailure, failureText, reportOf } from './failures.ts';
import { guideText } from './guide.ts';
import { addPublishCommand } from './publish.ts';
import { type GlobalOptions, type OpenSession, openSession, type Shell } from './session.ts';
import { addVersionCommands } from './versions.ts';

function buildProgram(shell: Shell, json: boolean): Command {
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

async function run(shell: Shell, args: readonly string[]): Promise<number> {
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

const interrupt = new AbortController();
// The second Ctrl-C ends the process the hard way.
process.once('SIGINT', () => interrupt.abort(new Error('Stopped.')));
// `easel ls | head` closes the pipe early; that is no failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit(0);
});
const { env, stdin, stdout, stderr } = process;
process.exitCode = await run({ env, stdin, stdout, stderr, signal: interrupt.signal }, process.argv.slice(2));
