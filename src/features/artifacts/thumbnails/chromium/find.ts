/** Where Chromium is, and whether it may be used. */
import { access, constants } from 'node:fs/promises';
import { delimiter, isAbsolute, join } from 'node:path';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome', 'chrome-headless-shell'];

export interface Wanted {
  /** As in THUMBNAILS. */
  readonly mode: 'auto' | 'on';
  /** As in CHROMIUM_PATH. */
  readonly path: string | undefined;
  /** As in PATH. */
  readonly searched: string;
  readonly isRoot: boolean;
}

/** `sandboxed`: with Chromium's own sandbox, which root cannot use. */
export type Found = { readonly file: string; readonly sandboxed: boolean } | { readonly none: 'missing' | 'root' };

export async function findChromium({ mode, path, searched, isRoot }: Wanted): Promise<Found> {
  const file = await firstExecutable(path === undefined ? NAMES : [path], searched);
  if (file === null) return { none: 'missing' };
  if (isRoot && mode === 'auto') return { none: 'root' };
  return { file, sandboxed: !isRoot };
}

async function firstExecutable(names: readonly string[], searched: string): Promise<string | null> {
  for (const name of names) {
    const folders = isAbsolute(name) ? [''] : searched.split(delimiter).filter((folder) => isAbsolute(folder));
    for (const folder of folders) {
      const file = join(folder, name);
      const isThere = await access(file, constants.X_OK).then(
        () => true,
        () => false,
      );
      if (isThere) return file;
    }
  }
  return null;
}
