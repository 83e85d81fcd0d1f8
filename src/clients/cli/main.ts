#!/usr/bin/env node
/** Entry point of the command `easel`. */
import process from 'node:process';
import { runCommandLine } from './program.ts';

const interrupt = new AbortController();
// `once`, so that a second Ctrl-C ends the process immediately.
process.once('SIGINT', () => interrupt.abort(new Error('Stopped.')));
// `easel ls | head` closes the pipe early, which is not a failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit(0);
});
const { env, stdin, stdout, stderr } = process;
process.exitCode = await runCommandLine({ env, stdin, stdout, stderr, signal: interrupt.signal }, process.argv.slice(2));
