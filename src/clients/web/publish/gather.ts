/** Files out of what was dropped or chosen: a folder with all that is in it, single files, or a zip, which is unpacked here. */
import { LIMITS } from '../../../../protocol/core/limits.ts';
import { bytesText } from '../words/format.ts';
import { words } from '../words/words.ts';
import { type GivenFile, NotPublishable } from './given.ts';

export interface Gathered {
  readonly name: string;
  readonly files: readonly GivenFile[];
  readonly entrypoint: string | undefined;
  /** The .html files, of which one is shown first. */
  readonly pages: readonly string[];
  /** Files that are not published, as by the command line. */
  readonly leftOut: number;
}

const BUILD_FOLDERS = ['dist', 'build', 'out', '_site', 'public'];
const PAGE = /\.html?$/i;

function isLeftOut(path: string): boolean {
  return (
    path.split('/').some((part) => part.startsWith('.') || part === 'node_modules' || part === '__MACOSX') || path.endsWith('.easel.zip')
  );
}

function checkPath(path: string): string {
  const clean = path.normalize('NFC');
  const parts = clean.split('/');
  const isBad =
    /[\\\p{Cc}]/u.test(clean) ||
    clean.length > LIMITS.filePathCharsMax ||
    parts.some((part) => part === '' || part === '..' || part === '.');
  if (isBad) throw new NotPublishable(words.value.publish.problems.badPath(clean));
  return clean;
}

/** The common first folder of all paths, with its slash; empty where there is none. */
function commonFolder(files: readonly GivenFile[]): string {
  const [first] = files;
  const slash = first?.path.indexOf('/') ?? -1;
  const folder = first === undefined || slash === -1 ? '' : first.path.slice(0, slash + 1);
  return files.every(({ path }) => path.startsWith(folder)) ? folder : '';
}

function nameOf(folder: string, files: readonly GivenFile[], fallback: string): string {
  if (folder !== '') return folder.slice(0, -1);
  const [only] = files.filter(({ path }) => PAGE.test(path));
  return fallback || (only?.path.replace(PAGE, '') ?? '');
}

/** Takes off folders around everything, chooses the start page, and checks the limits. Throws `NotPublishable`. */
function arrange(given: readonly GivenFile[], fallbackName = ''): Gathered {
  const { problems } = words.value.publish;
  const wanted = given.filter(({ path }) => !isLeftOut(path));
  if (wanted.length === 0) throw new NotPublishable(problems.empty);
  if (wanted.length > LIMITS.versionFilesMax) throw new NotPublishable(problems.tooMany(LIMITS.versionFilesMax));
  let folder = commonFolder(wanted);
  let name = nameOf(folder, wanted, fallbackName);
  let files = wanted.map(({ path, bytes }) => ({ path: checkPath(path.slice(folder.length)), bytes }));
  for (folder = commonFolder(files); folder !== '' && BUILD_FOLDERS.includes(folder.slice(0, -1)); folder = commonFolder(files)) {
    const { length } = folder;
    files = files.map(({ path, bytes }) => ({ path: path.slice(length), bytes }));
  }
  if (BUILD_FOLDERS.includes(name)) name = fallbackName || name;
  const large = files.find(({ bytes }) => bytes.size > LIMITS.versionFileBytesMax);
  if (large !== undefined) throw new NotPublishable(problems.tooLarge(large.path, bytesText(LIMITS.versionFileBytesMax)));
  if (sizeOf(files) > LIMITS.versionBytesMax) throw new NotPublishable(problems.allTooLarge(bytesText(LIMITS.versionBytesMax)));
  const [single] = files;
  // One page alone is the start page, whatever it is called.
  if (files.length === 1 && single !== undefined && PAGE.test(single.path)) files = [{ path: 'index.html', bytes: single.bytes }];
  const pages = files.map(({ path }) => path).filter((path) => PAGE.test(path));
  if (pages.length === 0) throw new NotPublishable(problems.noPage);
  pages.sort((a, b) => a.split('/').length - b.split('/').length || a.localeCompare(b));
  files.sort((a, b) => (a.path < b.path ? -1 : 1));
  const entrypoint = pages.includes('index.html') ? 'index.html' : pages[0];
  return { name, files, entrypoint, pages, leftOut: given.length - wanted.length };
}

export function sizeOf(files: readonly GivenFile[]): number {
  return files.reduce((sum, { bytes }) => sum + bytes.size, 0);
}

function isZip({ name, type }: File): boolean {
  return /\.zip$/i.test(name) || type === 'application/zip';
}

async function fromFiles(files: readonly GivenFile[]): Promise<Gathered> {
  const [only] = files;
  if (files.length === 1 && only?.bytes instanceof File && isZip(only.bytes)) {
    const { unpack } = await import('./unpack.ts');
    const name = only.bytes.name.replace(/\.zip$/i, '');
    return arrange(await unpack(only.bytes), name);
  }
  return arrange(files);
}

/** From a field to choose files or a folder. */
export function fromList(list: FileList): Promise<Gathered> {
  return fromFiles([...list].map((file) => ({ path: file.webkitRelativePath || file.name, bytes: file })));
}

/** From a drop. The entries must be taken in the event itself, before anything waits. */
export function fromDrop(transfer: DataTransfer): () => Promise<Gathered> {
  const entries = [...transfer.items].filter(({ kind }) => kind === 'file').map((item) => item.webkitGetAsEntry());
  const files = [...transfer.files];
  return async () => {
    if (entries.some((entry) => entry?.isDirectory)) {
      const found: GivenFile[] = [];
      for (const entry of entries) if (entry !== null) await walk(entry, '', found);
      return fromFiles(found);
    }
    return fromFiles(files.map((file) => ({ path: file.name, bytes: file })));
  };
}

async function walk(entry: FileSystemEntry, above: string, found: GivenFile[]): Promise<void> {
  const path = `${above}${entry.name}`;
  // The walk ends early where a home folder was dropped by mistake.
  if (found.length > LIMITS.versionFilesMax * 2) throw new NotPublishable(words.value.publish.problems.tooMany(LIMITS.versionFilesMax));
  if (isLeftOut(entry.name) && entry.isDirectory) return;
  if (entry.isFile) {
    const file = await new Promise<File>((resolve, reject) => (entry as FileSystemFileEntry).file(resolve, reject));
    found.push({ path, bytes: file });
    return;
  }
  const reader = (entry as FileSystemDirectoryEntry).createReader();
  for (;;) {
    const batch = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject));
    if (batch.length === 0) return;
    for (const below of batch) await walk(below, `${path}/`, found);
  }
}
