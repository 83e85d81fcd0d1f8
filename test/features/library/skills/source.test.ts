import { describe, expect, it } from 'vitest';
import { Failure } from '../../../../protocol/core/errors.ts';
import { mergeSources } from '../../../../src/features/library/skills/merge.ts';
import { skillPage } from '../../../../src/features/library/skills/page.ts';
import { readSource } from '../../../../src/features/library/skills/source.ts';

const withFront = (front: string, body = 'Text.\n') => `---\n${front}\n---\n${body}`;
const FRONT = 'name: Release notes\ndescription: How we write them.';

function failure(act: () => unknown): Failure {
  try {
    act();
  } catch (error) {
    if (error instanceof Failure) return error;
    throw error;
  }
  throw new Error('nothing was refused');
}

describe('the source of a skill', () => {
  it('has a name and a description, and other front matter as it likes', () => {
    const source = readSource(`\ufeff${withFront(`${FRONT}\nlicense: MIT`)}`.replaceAll('\n', '\r\n'));
    expect(source).toMatchObject({ name: 'Release notes', description: 'How we write them.', body: 'Text.\n' });
    expect(source.markdown).toBe(withFront(`${FRONT}\nlicense: MIT`));
  });

  it.each([
    ['no front matter', '# Title\n', 'must begin with front matter'],
    ['no description', withFront('name: A'), 'description'],
    ['a name that is a list', withFront('name: [a]\ndescription: b'), 'name'],
    ['broken YAML', withFront('name: "a\ndescription: b'), 'is no YAML'],
    ['a list', withFront('- a'), 'front matter'],
    ['a bomb of aliases', withFront(`a: &a [x]\nb: &b [${'*a,'.repeat(30)}*a]\nname: [*b]\ndescription: x`), 'aliases'],
    [
      'front matter of very many keys',
      withFront(`${FRONT}\nmore: {${Array.from({ length: 2000 }, (_, at) => `key${at}: 1`).join(', ')}}`),
      'front matter of more than',
    ],
    ['too many lines', withFront(FRONT, '\n'.repeat(2001)), 'lines'],
  ])('is refused with %s', (_, markdown, said) => {
    const { code, details, message } = failure(() => readSource(markdown));
    expect([code, details.param]).toEqual(['INVALID_REQUEST', 'markdown']);
    expect(message).toContain(said);
  });
});

describe('the page of a skill', () => {
  it('shows HTML as text and has no link that runs a script', () => {
    const body = '<script>alert(1)</script>\n\n[go](javascript:alert(1)) ![x](data:text/html,x) [ok](https://example.com)\n';
    const page = skillPage({ markdown: '', body, name: '</title><script>', description: '"><script>' });
    expect(page).not.toMatch(/<script|href="javascript|src="data:text/i);
    expect(page).toContain('<a href="https://example.com">ok</a>');
  });
});

describe('a merge', () => {
  const base = 'one\ntwo\nthree\nfour\n';
  it('keeps what both sides changed in different lines', () => {
    expect(mergeSources('ONE\ntwo\nthree\nfour\n', base, 'one\ntwo\nthree\nFOUR\n')).toBe('ONE\ntwo\nthree\nFOUR\n');
    expect(mergeSources('ONE\ntwo\nthree\nfour\n', base, 'ONE\ntwo\nthree\nfour\n')).toBe('ONE\ntwo\nthree\nfour\n');
  });

  it('of lines that are all alike is a conflict, and not a comparison without an end', () => {
    const alike = 'a\n'.repeat(2000);
    const { details } = failure(() => mergeSources(`b\n${alike}`, `${alike}c\n`, `d\n${alike}${alike}`));
    expect(details.conflict).toMatch(/^<<<<<<< live version\nb\n/);
  });

  it('refuses the same lines with both sides marked', () => {
    const { code, details } = failure(() => mergeSources('one\nours\nthree\nfour\n', base, 'one\ntheirs\nthree\nfour\n'));
    expect(code).toBe('VERSION_CONFLICT');
    expect(details.conflict).toBe('one\n<<<<<<< live version\nours\n=======\ntheirs\n>>>>>>> proposed change\nthree\nfour\n');
  });
});
