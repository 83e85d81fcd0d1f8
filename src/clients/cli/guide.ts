/** The first help page: `easel`, `easel help`, `easel --help`. */
import type { Command } from 'commander';
import { EXIT_CODES } from './failures.ts';
import { DEFAULT_URL } from './session.ts';

/** Longer lists of commands are shown by the help of their group. */
const INNER_CHARS_MAX = 24;

function groupsOf(program: Command): string[] {
  const groups = new Map<string, string[]>();
  for (const command of program.commands) {
    const heading = command.helpGroup();
    if (heading === '') continue;
    const usage = command.registeredArguments.map((argument) => (argument.required ? `<${argument.name()}>` : `[${argument.name()}]`));
    const inner = command.commands.map((each) => each.name()).join('|');
    const names = command.commands.length === 0 ? usage : [inner.length > INNER_CHARS_MAX ? '<command>' : inner];
    const line = `  ${[command.name(), ...names].join(' ').padEnd(35)} ${command.summary()}`;
    groups.set(heading, [...(groups.get(heading) ?? []), line]);
  }
  return [...groups].map(([heading, lines]) => `${heading}\n${lines.join('\n')}`);
}

export function guideText(program: Command): string {
  const codes = Object.values(EXIT_CODES).map(({ code, meaning }) => `${String(code).padStart(5)}  ${meaning}`);
  return `Easel publishes a folder of web files and stores its data.

Begin with three commands
  easel login                         sign in with the browser
  easel publish my-folder             publish the folder; again: as a new version
  easel open my-folder                open it in the browser

${groupsOf(program).join('\n\n')}

With every command
  --json                              one JSON document on standard output; errors as JSON on standard error
  --url <address>                     the server (default: EASEL_URL, else where you signed in, else ${DEFAULT_URL})
  --account <name>                    use this account of "easel accounts" instead of the current one
  --help                              describe the command, with options and examples; also: easel help publish
  EASEL_TOKEN                         environment variable: the token to use instead of the saved one

Exit codes
    0  done
${codes.join('\n')}
`;
}
