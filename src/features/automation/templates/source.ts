/** Reads the source of a template: Mustache without anything that escapes its rules. */
import Mustache from 'mustache';
import { Failure } from '../../../../protocol/core/errors.ts';
import { LIMITS } from '../../../../protocol/core/limits.ts';

export type TemplateNode =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'value'; readonly path: TemplatePath }
  /** `inverted`: shown where the value is missing, false or an empty list. */
  | { readonly kind: 'section'; readonly path: TemplatePath; readonly inverted: boolean; readonly nodes: readonly TemplateNode[] };

export interface TemplatePath {
  /** As it is written, for messages. */
  readonly name: string;
  /** Steps from the data, or from the item of the section around where `isLocal`. None is the item itself. */
  readonly steps: readonly string[];
  readonly isLocal: boolean;
}

type Token = [type: string, value: string, start: number, end: number, children?: Token[]];

const TAG_NAME = /^(?:\.|[A-Za-z_][A-Za-z0-9_-]*(?:\.[A-Za-z0-9_][A-Za-z0-9_-]*)*)$/;

/** `param`: the field of the request that has the source. Throws INVALID_REQUEST, with the line. */
export function readSource(source: string, param: string): readonly TemplateNode[] {
  requireSafeTags(source, param);
  // A writer of its own, because the shared one keeps every source for ever.
  const writer = new Mustache.Writer();
  let tokens: Token[];
  try {
    tokens = writer.parse(source, ['{{', '}}']) as Token[];
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    throw wrong(source, Number(/ at (\d+)$/.exec(text)?.[1] ?? 0), param, text.replace(/ at \d+$/, '').toLowerCase());
  }
  return nodesOf(tokens, { source, param, depth: 0 });
}

/**
 * The parser searches the rest of the source for the end of each tag, which takes quadratic time where there is none, and it takes tags that
 * do not escape. So tags are checked before it sees them.
 */
function requireSafeTags(source: string, param: string): void {
  for (let at = source.indexOf('{{'); at !== -1; ) {
    const end = source.indexOf('}}', at + 2);
    const tag = end === -1 ? undefined : source.slice(at + 2, end);
    if (tag === undefined || tag.length > LIMITS.templateTagCharsMax || tag.includes('{{')) {
      throw wrong(source, at, param, `a tag begins that does not end within ${LIMITS.templateTagCharsMax} characters`);
    }
    const refused = REFUSED.get(tag.trimStart()[0] ?? '');
    if (refused !== undefined) throw wrong(source, at, param, refused);
    at = source.indexOf('{{', end + 2);
  }
}

const ALWAYS_ESCAPED = 'values are always escaped in html and never in text, so write {{data.name}}';
const REFUSED = new Map([
  ['{', ALWAYS_ESCAPED],
  ['&', ALWAYS_ESCAPED],
  ['>', 'templates cannot include others'],
  ['=', 'the delimiters of tags cannot be changed'],
]);

function nodesOf(
  tokens: readonly Token[],
  place: { readonly source: string; readonly param: string; readonly depth: number },
): TemplateNode[] {
  const { source, param, depth } = place;
  return tokens.flatMap(([type, value, start, , children = []]): TemplateNode[] => {
    switch (type) {
      case 'text':
        return [{ kind: 'text', text: value }];
      case 'name':
        return [{ kind: 'value', path: pathOf(value, start, place) }];
      case '#':
      case '^': {
        if (depth >= LIMITS.templateSectionDepthMax) {
          throw wrong(source, start, param, `sections are nested more than ${LIMITS.templateSectionDepthMax} deep`);
        }
        const nodes = nodesOf(children, { ...place, depth: depth + 1 });
        return [{ kind: 'section', path: pathOf(value, start, place), inverted: type === '^', nodes }];
      }
      case '!':
        return [];
      default:
        throw wrong(source, start, param, `{{${type}…}} is not supported`);
    }
  });
}

function pathOf(name: string, at: number, { source, param, depth }: { source: string; param: string; depth: number }): TemplatePath {
  if (!TAG_NAME.test(name)) throw wrong(source, at, param, `{{${name}}} is not a name such as {{data.name}}`);
  const steps = name === '.' ? [] : name.split('.');
  if (steps[0] === 'data' && steps.length > 1) return { name, steps: steps.slice(1), isLocal: false };
  if (depth === 0)
    throw wrong(source, at, param, `{{${name}}} must be written as {{data.${name === 'data' || name === '.' ? 'name' : name}}}`);
  return { name, steps, isLocal: true };
}

function wrong(source: string, at: number, param: string, what: string): Failure {
  const line = source.slice(0, at).split('\n').length;
  return new Failure('INVALID_REQUEST', {
    param,
    message: `${param}: line ${line}: ${what}.`,
    hint: 'Write {{data.name}} for a value, and {{#data.list}}…{{/data.list}} to repeat a part for each item of a list.',
  });
}
