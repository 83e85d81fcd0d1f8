/** Which paths a file of a version may have: publish and import check theirs here. */
import { Failure, type Issue } from '../../../../protocol/core/errors.ts';
import { LIMITS } from '../../../../protocol/core/limits.ts';

export type PathCheck = { readonly ok: true; readonly path: string } | { readonly ok: false; readonly problem: string };

/** Control characters and lone surrogates: URLs, archives and file systems do not carry them reliably. */
const UNPRINTABLE = /[\p{Cc}\p{Cs}]/u;
/** Escapes that a second decoding would turn into a dot, a slash, a backslash or a control character. */
const ENCODED_UNSAFE = /%(?:2e|2f|5c|7f|[01][0-9a-f])/i;

/** The path in NFC, or what is wrong with it. */
export function checkPath(raw: string): PathCheck {
  const path = raw.normalize('NFC');
  const problem = problemOf(path);
  return problem === null ? { ok: true, path } : { ok: false, problem };
}

function problemOf(path: string): string | null {
  if (path === '') return 'must not be empty';
  if (path.length > LIMITS.filePathCharsMax) return `may have ${LIMITS.filePathCharsMax} characters`;
  if (UNPRINTABLE.test(path)) return 'must not contain control characters';
  if (path.includes('\\')) return 'must use forward slashes, not backslashes';
  if (path.startsWith('/')) return 'must be relative, without a leading slash';
  if (ENCODED_UNSAFE.test(path.replace(/%(?:25)+/g, '%'))) return 'must not contain percent-encoded dots, slashes or control characters';
  for (const segment of path.split('/')) {
    if (segment === '') return 'must not have empty segments';
    if (segment === '.' || segment === '..') return 'must not have "." or ".." segments';
  }
  return null;
}

/**
 * The normalised paths in the order given. Throws INVALID_REQUEST with an issue for each wrong one; `field` names the list.
 * Paths that differ in case only are two files: URLs and most web servers tell them apart.
 */
export function requirePaths(raws: readonly string[], field: string): string[] {
  const issues: Issue[] = [];
  const paths = raws.map((raw, index) => {
    const check = checkPath(raw);
    if (check.ok) return check.path;
    issues.push({ path: `${field}.${index}.path`, message: check.problem });
    return '';
  });
  issues.push(...collisions(paths, field));
  const [first] = issues;
  if (first !== undefined) throw new Failure('INVALID_REQUEST', { message: `${first.path}: ${first.message}`, param: first.path, issues });
  return paths;
}

/** Refuses two files with one path, and a file where another path needs a folder: no file system could hold such an export. */
function collisions(paths: readonly string[], field: string): Issue[] {
  const issues: Issue[] = [];
  const folders = new Set<string>();
  for (const path of paths) {
    for (let slash = path.indexOf('/'); slash !== -1; slash = path.indexOf('/', slash + 1)) folders.add(path.slice(0, slash));
  }
  const seen = new Set<string>();
  for (const [index, path] of paths.entries()) {
    if (path === '') continue;
    if (seen.has(path)) issues.push({ path: `${field}.${index}.path`, message: 'is the same as the path of an earlier file' });
    else if (folders.has(path)) issues.push({ path: `${field}.${index}.path`, message: 'is also the folder of another file' });
    seen.add(path);
  }
  return issues;
}
