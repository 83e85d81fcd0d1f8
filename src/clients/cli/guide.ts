/** The page that a newcomer sees: `easel`, `easel help`, `easel --help`. */
import type { Command } from 'commander';
import { EXIT_CODES } from './failures.ts';
import { DEFAULT_URL } from './session.ts';

function groupsOf(program: Command): string[] {
  const groups = new Map<string, string[]>();
  for (const command of program.commands) {
    const heading = command.helpGroup();
    if (heading === '') continue;
    const usage = command.registeredArguments.map((argument) => (argument.required ? `<${argument.name()}>` : `[${argument.name()}]`));
    const names = command.commands.length > 0 ? [command.commands.map((inner) => inner.name()).join('|')] : usage;
    const line = `  ${[command.name(), ...names].join(' ').padEnd(30)} ${command.summary()}`;
    groups.set(heading, [...(groups.get(heading) ?? []), line]);
  }
  return [...groups].map(([heading, lines]) => `${heading}\n${lines.join('\n')}`);
}

export function guideText(program: Command): string {
  const codes = Object.values(EXIT_CODES).map(({ code, meaning }) => `${String(code).padStart(5)}  ${meaning}`);
  return `Easel puts a folder of web files online and keeps its data.

Begin with three commands
  easel login                    sign in; makes an account when you have none
  easel publish my-folder        put the folder online; again: a new version
  easel open my-folder           see it in the browser

${groupsOf(program).join('\n\n')}

With every command
  --json                         one JSON document on standard output; errors as JSON on standard error
  --url <address>                the server (else EASEL_URL, else where you signed in, else ${DEFAULT_URL})
  --help                         what it does, its options, examples; also: easel help publish
  EASEL_TOKEN                    in the environment: the token to use instead of the saved one

Exit codes
    0  done
${codes.join('\n')}
`;
}
