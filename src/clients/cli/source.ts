/** Finds the files to publish, and computes their digests. */
import { createHash } from 'node:crypto';
import { readdir, readFile, stat } from 'node:fs/promises';
import { basename, dirname, extname, join, resolve } from 'node:path';
import ignore, { type Ignore } from 'ignore';
import { LIMITS } from '../../../protocol/core/limits.ts';
import { CliFailure } from './failures.ts';
import { fileFailure, readGiven } from './given-files.ts';
import { inParallel } from './in-parallel.ts';
import { bytesText } from './text.ts';

/** Default suffix of exports. A publish leaves them out, because they contain data that visitors may not be allowed to see. */
export const EXPORT_SUFFIX = '.easel.zip';
const READERS = 8;
// Usual output folders of build tools.
const BUILD_FOLDERS = ['dist', 'build', 'out', '_site', 'public'];

export interface SourceFile {
  /** In the published version: relative, forward slashes, NFC. */
  readonly path: string;
  readonly absolute: string;
  readonly sizeBytes: number;
}
export interface Source {
  /** The folder that contains `.easel.json`. */
  readonly folder: string;
  /** `.` for the folder, else the file name of the single page. */
  readonly key: string;
  readonly name: string;
  readonly files: readonly SourceFile[];
  /** Symbolic links are left out, because they can point outside the folder. */
  readonly linksSkipped: number;
}
export interface DigestedFile extends SourceFile {
  readonly sha256: string;
}

function usage(code: string, message: string, hint?: string): CliFailure {
  return new CliFailure('usage', code, message, hint);
}

async function rulesOf(folder: string): Promise<Ignore> {
  const rules = ignore({ ignorecase: false }).add(['.*', 'node_modules', `*${EXPORT_SUFFIX}`]);
  const own = await readFile(join(folder, '.easelignore'), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '';
    throw fileFailure(error, 'read', join(folder, '.easelignore'));
  });
  return rules.add(own);
}

/** All files and symbolic links below the folder, except those that a rule excludes. */
async function* entriesBelow(folder: string, rules: Ignore, below = ''): AsyncGenerator<{ path: string; isLink: boolean }> {
  for (const entry of await readdir(join(folder, below), { withFileTypes: true })) {
    const path = below === '' ? entry.name : `${below}/${entry.name}`;
    if (rules.ignores(entry.isDirectory() ? `${path}/` : path)) continue;
    if (entry.isDirectory()) yield* entriesBelow(folder, rules, path);
    else if (entry.isFile() || entry.isSymbolicLink()) yield { path, isLink: entry.isSymbolicLink() };
  }
}

async function walk(folder: string): Promise<{ files: SourceFile[]; linksSkipped: number }> {
  const files: SourceFile[] = [];
  let linksSkipped = 0;
  for await (const { path, isLink } of entriesBelow(folder, await rulesOf(folder))) {
    if (isLink) {
      linksSkipped += 1;
      continue;
    }
    // Checked during the walk, so that publishing the home folder by mistake fails soon.
    if (files.length === LIMITS.versionFilesMax) {
      throw usage(
        'TOO_MANY_FILES',
        `${folder} has more than ${LIMITS.versionFilesMax} files.`,
        'Publish only the built site, or list files to exclude in a .easelignore file.',
      );
    }
    const absolute = join(folder, path);
    files.push({ path: path.normalize('NFC'), absolute, sizeBytes: (await stat(absolute)).size });
  }
  files.sort((a, b) => (a.path < b.path ? -1 : 1));
  return { files, linksSkipped };
}

function checkSizes(files: readonly SourceFile[]): void {
  const large = files.find((file) => file.sizeBytes > LIMITS.versionFileBytesMax);
  if (large) {
    throw usage(
      'FILE_TOO_LARGE',
      `${large.path} has ${bytesText(large.sizeBytes)}; the maximum for a file is ${bytesText(LIMITS.versionFileBytesMax)}.`,
      'Make it smaller, or list it in a .easelignore file.',
    );
  }
  const total = files.reduce((sum, file) => sum + file.sizeBytes, 0);
  if (total > LIMITS.versionBytesMax) {
    throw usage(
      'VERSION_TOO_LARGE',
      `The files have ${bytesText(total)} in total; the maximum for a version is ${bytesText(LIMITS.versionBytesMax)}.`,
      'List files to exclude in a .easelignore file.',
    );
  }
}

/** The name of the folder; for a build folder that of its parent: `my-site` for `my-site/dist`. */
function folderName(absolute: string): string {
  const own = basename(absolute);
  return (BUILD_FOLDERS.includes(own) ? basename(dirname(absolute)) : own) || 'site';
}

/** Reads a folder or a single .html file. Throws a CliFailure before anything is sent if it cannot be published. */
export async function readSource(target: string): Promise<Source> {
  const absolute = resolve(target);
  const kind = await stat(absolute).catch(() => undefined);
  if (!kind) throw usage('NO_SUCH_FOLDER', `There is no folder or file "${target}".`, 'Give the folder that contains index.html.');
  if (!kind.isDirectory()) {
    if (!/^\.html?$/i.test(extname(absolute))) {
      throw usage('NOT_A_PAGE', `"${target}" is neither a folder nor an .html file.`, 'Give the folder that contains the page.');
    }
    const files = [{ path: 'index.html', absolute, sizeBytes: kind.size }];
    checkSizes(files);
    return { folder: dirname(absolute), key: basename(absolute), name: basename(absolute, extname(absolute)), files, linksSkipped: 0 };
  }
  const { files, linksSkipped } = await walk(absolute);
  if (files.length === 0) throw usage('EMPTY_FOLDER', `The folder "${target}" contains no files to publish.`);
  checkSizes(files);
  return { folder: absolute, key: '.', name: folderName(absolute), files, linksSkipped };
}

/** The entry page: the requested one, else index.html, else the only page at the top level. */
export function entrypointOf(source: Source, asked: string | undefined): string {
  const paths = source.files.map((file) => file.path);
  if (asked !== undefined) {
    const wanted = asked.replace(/^\.\//, '').normalize('NFC');
    if (paths.includes(wanted)) return wanted;
    throw usage('NO_ENTRY', `The folder has no file "${wanted}".`, 'Give its path within the folder, for example pages/start.html.');
  }
  if (paths.includes('index.html')) return 'index.html';
  const built = BUILD_FOLDERS.find((folder) => paths.includes(`${folder}/index.html`));
  if (built)
    throw usage('NO_ENTRY', 'The folder has no index.html.', `Publish the built site: easel publish ${join(source.folder, built)}`);
  const pages = paths.filter((path) => /^[^/]+\.html?$/i.test(path));
  if (pages.length === 1 && pages[0] !== undefined) return pages[0];
  const found = pages.length > 1 ? ` Found: ${pages.slice(0, 5).join(', ')}.` : '';
  throw usage('NO_ENTRY', 'The folder has no index.html.', `Choose the page shown first with --entry.${found}`);
}

/** Reads a file and its SHA-256 in lowercase hex. */
export async function readDigested(file: SourceFile): Promise<{ bytes: Uint8Array; sha256: string }> {
  const bytes = await readGiven(file.absolute);
  return { bytes, sha256: createHash('sha256').update(bytes).digest('hex') };
}

export async function digestAll(files: readonly SourceFile[], signal: AbortSignal): Promise<DigestedFile[]> {
  const digested = new Map<SourceFile, string>();
  await inParallel(files, READERS, async (file) => {
    signal.throwIfAborted();
    digested.set(file, (await readDigested(file)).sha256);
  });
  return files.map((file) => ({ ...file, sha256: digested.get(file) ?? '' }));
}
