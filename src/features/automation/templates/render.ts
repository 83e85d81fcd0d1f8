/** Renders templates: values are escaped in HTML and never in text, and the work is bounded while it is done. Pure. */
import Mustache from 'mustache';
import { Failure } from '../../../../protocol/core/errors.ts';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import { oneLine } from '../../../mail/templates/message.ts';
import { readSource, type TemplateNode, type TemplatePath } from './source.ts';
import { textOfHtml } from './text-of-html.ts';
import { type TemplateVariable, withDefaults } from './variables.ts';

export type TemplateData = Readonly<Record<string, unknown>>;

export interface MailTemplate {
  readonly subject: string;
  readonly html: string;
  /** Empty: what the HTML says is its text too. */
  readonly text: string;
  readonly variables: readonly TemplateVariable[];
}

export interface RenderedText {
  readonly text: string;
  /** What has no value, each named once. */
  readonly warnings: readonly string[];
}

export interface RenderedMail {
  readonly subject: string;
  readonly html: string;
  readonly text: string;
  readonly warnings: readonly string[];
}

/** `param`: how messages call the source. Throws INVALID_REQUEST for a source that is no template, or an output without end. */
export function renderText(source: string, data: TemplateData, param = 'text'): RenderedText {
  const rendering = new Rendering(data);
  return { text: rendering.run(source, param, asItIs), warnings: rendering.warnings };
}

/** Throws INVALID_REQUEST: a template with a mistake, a value of a wrong type, a required one that is missing, an output without end. */
export function renderTemplate(template: MailTemplate, data: TemplateData): RenderedMail {
  const rendering = new Rendering(withDefaults(template.variables, data));
  const subject = oneLine(rendering.run(template.subject, 'subject', asItIs));
  const html = rendering.run(template.html, 'html', Mustache.escape);
  const text = template.text === '' ? textOfHtml(html) : rendering.run(template.text, 'text_body', asItIs);
  return { subject: [...subject].slice(0, LIMITS.mailSubjectCharsMax).join(''), html, text, warnings: rendering.warnings };
}

/** Throws INVALID_REQUEST for the first source with a mistake. */
export function requireTemplate({ subject, html, text }: Pick<MailTemplate, 'subject' | 'html' | 'text'>): void {
  readSource(subject, 'subject');
  readSource(html, 'html');
  readSource(text, 'text_body');
}

const asItIs = (text: string) => text;

/** One rendering of some sources with the same data, with one bound for all of them. */
class Rendering {
  readonly #data: TemplateData;
  readonly #warnings = new Set<string>();
  #steps = 0;
  #chars = 0;

  constructor(data: TemplateData) {
    this.#data = data;
  }

  get warnings(): readonly string[] {
    return [...this.#warnings];
  }

  run(source: string, param: string, escaping: (text: string) => string): string {
    const parts: string[] = [];
    this.#render(readSource(source, param), [], { parts, param, escaping });
    return parts.join('');
  }

  /** `items`: of the sections around, the innermost last. */
  #render(nodes: readonly TemplateNode[], items: readonly unknown[], into: Output): void {
    for (const node of nodes) {
      this.#spend(1, 0, into.param);
      if (node.kind === 'text') this.#put(node.text, into);
      else if (node.kind === 'value') this.#put(into.escaping(this.#shown(node.path, items)), into);
      else this.#section(node, items, into);
    }
  }

  #section(node: Extract<TemplateNode, { kind: 'section' }>, items: readonly unknown[], into: Output): void {
    const value = this.#find(node.path, items);
    const isEmpty = isMissing(value) || value === false || value === '' || (Array.isArray(value) && value.length === 0);
    if (node.inverted) {
      if (isEmpty) this.#render(node.nodes, items, into);
      return;
    }
    if (isEmpty) return;
    for (const item of Array.isArray(value) ? value : [value]) {
      this.#spend(1, 0, into.param);
      this.#render(node.nodes, [...items, item], into);
    }
  }

  #put(text: string, { parts, param }: Output): void {
    this.#spend(0, text.length, param);
    parts.push(text);
  }

  /** What a tag becomes, before it is escaped. */
  #shown(path: TemplatePath, items: readonly unknown[]): string {
    const value = this.#find(path, items);
    if (typeof value === 'string') return value;
    if (typeof value === 'number' || typeof value === 'boolean' || typeof value === 'bigint') return String(value);
    if (isMissing(value)) this.#warn(`${path.name} has no value, so nothing is shown for it.`);
    else this.#warn(`${path.name} is no text, number or boolean, so nothing is shown for it.`);
    return '';
  }

  /** Own properties only, so that nothing of a prototype can be reached. */
  #find({ steps, isLocal }: TemplatePath, items: readonly unknown[]): unknown {
    if (!isLocal) return follow(this.#data, steps);
    const [first] = steps;
    if (first === undefined) return items.at(-1);
    // As in Mustache, an item that lacks the name leaves it to the items around it.
    const holder = items.findLast((item) => isHolder(item) && Object.hasOwn(item, first));
    return follow(holder, steps);
  }

  #warn(text: string): void {
    if (this.#warnings.size < LIMITS.templateWarningsMax) this.#warnings.add(text);
  }

  #spend(steps: number, chars: number, param: string): void {
    this.#steps += steps;
    this.#chars += chars;
    if (this.#steps <= LIMITS.templateStepsMax && this.#chars <= LIMITS.templateOutputCharsMax) return;
    throw new Failure('INVALID_REQUEST', {
      param,
      message: `${param}: the template becomes too large with these values.`,
      hint: `It may have ${LIMITS.templateOutputCharsMax} characters and ${LIMITS.templateStepsMax} parts: send shorter lists.`,
    });
  }
}

interface Output {
  readonly parts: string[];
  readonly param: string;
  readonly escaping: (text: string) => string;
}

function follow(from: unknown, steps: readonly string[]): unknown {
  let value = from;
  for (const step of steps) {
    if (!isHolder(value) || !Object.hasOwn(value, step)) return undefined;
    value = (value as Record<string, unknown>)[step];
  }
  return value;
}

function isHolder(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

function isMissing(value: unknown): boolean {
  return value === undefined || value === null;
}
