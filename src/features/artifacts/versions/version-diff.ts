/** What changed between two versions. */
import { isUtf8 } from 'node:buffer';
import { createTwoFilesPatch } from 'diff';
import type { ObjectStore } from '../../../storage/objects.ts';
import type { FileRow } from './rows.ts';

const TEXT_BYTES_MAX = 256 * 1024;
/** Files with a line diff in one answer; the rest are only named. */
const UNIFIED_FILES_MAX = 50;
/** Comparing two unlike texts takes quadratic time: beyond this the file is only named. */
const FILE_DIFF_MS_MAX = 500;
const EDITS_MAX = 5_000;
/** Time for the line diffs of one answer; files after that are only named. */
const ANSWER_MS_MAX = 3_000;

interface Modified {
  readonly path: string;
  readonly unified?: string;
}

/** A path only in `b` is added, one only in `a` removed; the others are compared by content. */
export async function diffFiles(deps: { readonly objects: ObjectStore }, a: readonly FileRow[], b: readonly FileRow[]) {
  const before = new Map(a.map((file) => [file.path, file]));
  const after = new Set(b.map((file) => file.path));
  const modified: Modified[] = [];
  const deadlineMs = performance.now() + ANSWER_MS_MAX;
  let unifiedFiles = 0;
  for (const file of b) {
    const old = before.get(file.path);
    if (old === undefined || old.sha256.equals(file.sha256)) continue;
    const mayShow = unifiedFiles < UNIFIED_FILES_MAX && performance.now() < deadlineMs;
    const unified = mayShow ? await unifiedDiff(deps.objects, old, file) : undefined;
    if (unified !== undefined) unifiedFiles += 1;
    modified.push(unified === undefined ? { path: file.path } : { path: file.path, unified });
  }
  return {
    added: b.filter((file) => !before.has(file.path)).map((file) => file.path),
    removed: a.filter((file) => !after.has(file.path)).map((file) => file.path),
    modified,
  };
}

/** Undefined for binary and large files, and when the diff takes too long. */
async function unifiedDiff(objects: ObjectStore, old: FileRow, file: FileRow): Promise<string | undefined> {
  if (old.size_bytes > TEXT_BYTES_MAX || file.size_bytes > TEXT_BYTES_MAX) return undefined;
  const [oldBytes, newBytes] = await Promise.all([objects.read(old.sha256.toString('hex')), objects.read(file.sha256.toString('hex'))]);
  if (!isText(oldBytes) || !isText(newBytes)) return undefined;
  return unifiedTexts(file.path, oldBytes.toString('utf8'), newBytes.toString('utf8'));
}

/** Undefined where comparing takes too long. */
export function unifiedTexts(path: string, before: string, after: string): Promise<string | undefined> {
  // With a callback the library yields to the event loop between its steps.
  return new Promise((resolve) => {
    createTwoFilesPatch(path, path, before, after, undefined, undefined, {
      context: 3,
      timeout: FILE_DIFF_MS_MAX,
      maxEditLength: EDITS_MAX,
      callback: resolve,
    });
  });
}

function isText(bytes: Buffer): boolean {
  return isUtf8(bytes) && !bytes.includes(0);
}
