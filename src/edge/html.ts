/** HTML that cannot be injected into: whatever is not HTML already is escaped. */

export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

type Part = Html | string | number | null | undefined | false | readonly Part[];

/** Null, undefined and false show nothing. Attributes must be quoted. */
export function html(texts: TemplateStringsArray, ...parts: readonly Part[]): Html {
  return new Html(texts.reduce((whole, text, at) => `${whole}${at === 0 ? '' : textOf(parts[at - 1])}${text}`, ''));
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`);
}

function textOf(part: Part): string {
  if (part instanceof Html) return part.text;
  if (Array.isArray(part)) return (part as readonly Part[]).map(textOf).join('');
  return part === null || part === undefined || part === false ? '' : escapeHtml(String(part));
}
