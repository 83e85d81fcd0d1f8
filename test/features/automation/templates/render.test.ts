/** Templates: what they may hold, how values are shown, and that no template or value makes the work unbounded. */
import { describe, expect, it } from 'vitest';
import { Failure } from '../../../../protocol/core/errors.ts';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import { type MailTemplate, renderTemplate, renderText } from '../../../../src/features/automation/templates/render.ts';
import { textOfHtml } from '../../../../src/features/automation/templates/text-of-html.ts';

const template = (more: Partial<MailTemplate>): MailTemplate => ({
  subject: 'Hello',
  html: '<p>Hello</p>',
  text: 'Hello',
  variables: [],
  ...more,
});
const failureOf = (run: () => unknown): Failure => {
  try {
    run();
  } catch (error) {
    if (error instanceof Failure) return error;
    throw error;
  }
  throw new Error('it did not fail');
};

describe('values', () => {
  it('are escaped in html, and neither in text nor in the subject', () => {
    const name = `<b onload="x">Tom & 'Jerry'</b>`;
    const mail = renderTemplate(template({ subject: '{{data.name}}', html: '<i>{{data.name}}</i>', text: '{{data.name}}' }), { name });
    expect(mail.html).not.toContain('<b');
    expect(mail.html).not.toContain('"x"');
    expect([mail.subject, mail.text]).toEqual([name, name]);
  });

  it('of dotted paths, lists and items are found, those of items before those around them', () => {
    const data = { team: { name: 'Blue' }, rows: [{ n: 1, name: 'one' }, { n: 2 }], tags: ['a', 'b'], name: 'outside' };
    expect(renderText('{{data.team.name}}:{{#data.rows}} {{n}} {{name}}{{data.name}}{{/data.rows}}', data).text).toBe(
      'Blue: 1 oneoutside 2 outside',
    );
    expect(renderText('{{#data.tags}}[{{.}}]{{/data.tags}}{{^data.none}}none{{/data.none}}', data).text).toBe('[a][b]none');
    expect(renderText('{{data.rows.1.n}}', data).text).toBe('2');
    expect(renderText('{{data.a}} {{data.b}}', { a: 0, b: false }).text).toBe('0 false');
  });

  it('that are missing are empty and named once in a warning', () => {
    expect(renderText('a{{data.x}}b{{data.x}}c{{data.y.z}}', { y: 1 })).toEqual({
      text: 'abc',
      warnings: [expect.stringContaining('data.x'), expect.stringContaining('data.y.z')],
    });
    expect(renderText('{{data.x}}', { x: { a: 1 } })).toEqual({ text: '', warnings: [expect.stringContaining('data.x')] });
  });

  it('of a prototype cannot be reached, and functions are not called', () => {
    let called = 0;
    const data = { f: () => (called += 1), list: [1] };
    for (const name of ['constructor', '__proto__', 'toString', 'constructor.constructor', 'list.map', 'f', 'f.name.length'])
      expect(renderText(`{{data.${name}}}`, data).text).toBe('');
    expect(renderText('{{#data.f}}x{{/data.f}}{{#data.list}}{{toString}}{{/data.list}}', data).text).toBe('x');
    expect(called).toBe(0);
  });

  it('have the declared type, and defaults where they are missing', () => {
    const variables = [
      { name: 'who', type: 'string', required: true },
      { name: 'n', type: 'number', default: 7 },
      { name: 'day', type: 'date' },
    ] as const;
    const one = template({ subject: '{{data.who}} {{data.n}}', variables });
    expect(renderTemplate(one, { who: 'Ada' }).subject).toBe('Ada 7');
    expect(failureOf(() => renderTemplate(one, {})).details.param).toBe('data.who');
    expect(failureOf(() => renderTemplate(one, { who: 'Ada', n: '8' })).details.param).toBe('data.n');
    expect(failureOf(() => renderTemplate(one, { who: 'Ada', day: 'soon' })).details.param).toBe('data.day');
    expect(renderTemplate(one, { who: 'Ada', day: '2026-03-01' }).warnings).toEqual([]);
  });
});

describe('sources', () => {
  it.each([
    ['{{{data.x}}}', 'escaped'],
    ['{{&data.x}}', 'escaped'],
    ['{{ & data.x}}', 'escaped'],
    ['{{> file}}', 'include'],
    ['{{=<% %>=}}', 'delimiters'],
    ['{{name}}', '{{data.name}}'],
    ['{{data}}', '{{data.name}}'],
    ['{{.}}', '{{data.name}}'],
    ['{{data.a b}}', 'not a name'],
    ['{{data.x', 'does not end'],
    ['{{#data.x}}', 'unclosed section'],
    ['{{/data.x}}', 'unopened section'],
    ['{{#data.x}}{{/data.y}}', 'unclosed section'],
  ])('%s is refused with its line', (source, what) => {
    const failure = failureOf(() => renderText(`line one\n${source}`, {}, 'html'));
    expect(failure.code).toBe('INVALID_REQUEST');
    expect(failure.details.param).toBe('html');
    expect(failure.message).toContain(what);
    expect(failure.message).toMatch(/line [12]/);
  });

  it('without an end are refused before anything searches them again and again', () => {
    for (const source of [`{{a${' '.repeat(150_000)}`, '{{'.repeat(75_000), `{{#${' '.repeat(150_000)}}}`])
      expect(failureOf(() => renderText(source, {})).code).toBe('INVALID_REQUEST');
    const long = `${'{{data.x}}'.repeat(15_000)}${' '.repeat(50_000)}`;
    expect(renderText(long, { x: 1 }).text).toHaveLength(65_000);
  });

  it('of lists in lists stop at the bound, whatever they would show', () => {
    const list = Array.from({ length: 1000 }, () => 1);
    const nested = (inside: string) => `${'{{#data.list}}'.repeat(6)}${inside}${'{{/data.list}}'.repeat(6)}`;
    for (const inside of ['x', '', '{{data.none}}'])
      expect(failureOf(() => renderText(nested(inside), { list })).message).toContain('too large');
    const big = 'x'.repeat(LIMITS.templateOutputCharsMax / 2);
    expect(failureOf(() => renderText('{{data.big}}{{data.big}}{{data.big}}', { big })).message).toContain('too large');
    expect(failureOf(() => renderText(`${'{{#data.a}}'.repeat(9)}${'{{/data.a}}'.repeat(9)}`, {})).message).toContain('nested');
  });
});

it('the text of HTML has its links and lines, and no markup', () => {
  const html =
    '<head><title>T</title><style>p{}</style></head><h1>Hi &amp; bye</h1><p>One<br>two <a href="https://a.example/?x=1&amp;y=2">here</a></p><!-- no --><script>x()</script>';
  expect(textOfHtml(html)).toBe('Hi & bye\n\nOne\ntwo here (https://a.example/?x=1&y=2)\n');
  expect(textOfHtml('<'.repeat(100_000))).toBe('\n');
  expect(textOfHtml('<a href="javascript:x">x</a> &#0; &#1114112; &constructor;')).toBe('x &#0; &#1114112; &constructor;\n');
});
