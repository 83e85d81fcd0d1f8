/** The source of a skill: Markdown below front matter in YAML. */
import { parseDocument } from 'yaml';
import { z } from 'zod';
import { Failure } from '../../../../protocol/core/errors.ts';
import { nameSchema, storedText } from '../../../../protocol/core/fields.ts';
import { readInput } from '../../../../protocol/core/issues.ts';
import { LIMITS } from '../../../../protocol/core/limits.ts';

export interface SkillSource {
  /** Lines end with \n. */
  readonly markdown: string;
  /** Without the front matter. */
  readonly body: string;
  readonly name: string;
  readonly description: string;
}

const FENCED = /^---[ \t]*\n([\s\S]*?)\n---[ \t]*(?:\n|$)/;
/** Aliases in YAML can stand for each other until nothing has room for what they come to. */
const ALIASES_MAX = 20;
/** Keys of a mapping are compared with all before them, so this bounds the turn that they take. */
const FRONT_MATTER_CHARS_MAX = 8192;

const frontMatter = z.looseObject({ name: nameSchema, description: storedText(LIMITS.descriptionCharsMax).trim().min(1) });

/** Throws INVALID_REQUEST, FILE_TOO_LARGE. */
export function readSource(text: string): SkillSource {
  const markdown = text.replace(/^\ufeff/, '').replace(/\r\n?/g, '\n');
  if (Buffer.byteLength(markdown) > LIMITS.skillMarkdownBytesMax) {
    throw new Failure('FILE_TOO_LARGE', { param: 'markdown', message: 'markdown: a skill may have 128 KB.', hint: 'Split it.' });
  }
  if (markdown.split('\n').length > LIMITS.skillLinesMax) throw wrong(`has more than ${LIMITS.skillLinesMax} lines`);
  const fenced = FENCED.exec(markdown);
  if (fenced?.[1] === undefined) throw wrong('must begin with front matter: a line of ---, name and description, and a line of ---');
  if (fenced[1].length > FRONT_MATTER_CHARS_MAX) throw wrong(`has front matter of more than ${FRONT_MATTER_CHARS_MAX} characters`);
  const { name, description } = readFrontMatter(fenced[1]);
  return { markdown, body: markdown.slice(fenced[0].length), name, description };
}

function readFrontMatter(yaml: string): z.output<typeof frontMatter> {
  const document = parseDocument(yaml, { prettyErrors: false, logLevel: 'error' });
  const [error] = document.errors;
  if (error !== undefined) throw wrong(`the front matter is no YAML (${error.code.toLowerCase().replaceAll('_', ' ')})`);
  const { value, issues } = readInput(frontMatter, plainValue(document));
  const [first] = issues ?? [];
  if (first !== undefined) throw wrong(`the front matter ${first.path === '' ? '' : `has ${first.path}, which `}${first.message}`);
  if (value === undefined) throw wrong('the front matter cannot be read');
  return value;
}

function plainValue(document: ReturnType<typeof parseDocument>): unknown {
  try {
    return document.toJS({ maxAliasCount: ALIASES_MAX });
  } catch (error) {
    if (!(error instanceof ReferenceError)) throw error;
    throw wrong('the front matter repeats itself by too many aliases');
  }
}

function wrong(what: string): Failure {
  return new Failure('INVALID_REQUEST', {
    param: 'markdown',
    message: `markdown: ${what}.`,
    hint: 'Begin with a line of ---, then name: and description:, then a line of ---, and the Markdown.',
  });
}
