/** ask: questions that are answered from pages. */
import type { Command } from 'commander';
import { artifactIdOf } from './artifact-name.ts';
import type { OpenSession, Session } from './session.ts';

interface AskOptions {
  readonly workspace?: string;
  readonly artifact?: string;
}

async function ask(session: Session, words: readonly string[], { workspace, artifact }: AskOptions): Promise<void> {
  const { signal } = session.shell;
  const question = words.join(' ');
  const answered =
    artifact === undefined
      ? await session.api.ask.ask({ body: { question, ...(workspace !== undefined && { workspace }) }, signal })
      : await session.api.ask.agent({ params: { artifactId: await artifactIdOf(session, artifact) }, body: { question }, signal });
  // Events come only to who asks for them.
  if (answered.body instanceof Uint8Array) throw new Error('the service has answered with a stream');
  const { answer, citations, mode } = 'data' in answered.body ? answered.body.data : answered.body;
  const sources = citations.map(({ title, url }, at) => `[${at + 1}] ${plain(title)}  ${url}`);
  session.answer({ answer, citations, mode }, [plain(answer), ...(sources.length === 0 ? [] : [sources.join('\n')])].join('\n\n'));
}

/** Pages may say anything, so control characters must not reach the terminal. */
function plain(text: string): string {
  return text.replace(/[^\P{Cc}\n]/gu, ' ');
}

export function addAskCommand(program: Command, open: OpenSession): void {
  program.commandsGroup('Publish and see');
  program
    .command('ask')
    .summary('ask what your pages say')
    .description('Answers a question from the pages that you may open, and names them.')
    .argument('<question...>', 'in quotes where it has signs that your shell reads, such as ?')
    .option('-w, --workspace <slug|id>', 'only from pages of this workspace')
    .option('-a, --artifact <id|slug|folder>', 'only from this page, its tables, datasets and documents')
    .addHelpText(
      'after',
      '\nExamples:\n  easel ask "How do we write release notes?"\n  easel ask "Which city is the largest?" --artifact cities',
    )
    .action(async (words, options, command) => ask(await open(command), words, options));
}
