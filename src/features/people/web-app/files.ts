/** The files of the web app as the build has written them, with their compressed forms. */
import { readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { StaticFile } from '../../../edge/static-file.ts';

const TYPES: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/** A name with a digest means the same bytes for ever; icons have plain names, because pages and bookmarks name them. */
const HASHED = /-[A-Z0-9]{8}\.(?:js|css)$/;

export interface AppManifest {
  /** Names of files: the first script, those that it imports at once, and the style sheet. */
  readonly script: string;
  readonly preload: readonly string[];
  readonly style: string;
}

export interface AppFiles {
  readonly manifest: AppManifest;
  find(name: string): StaticFile | undefined;
}

export function readAppFiles(folder: string): AppFiles {
  const names = new Set(readdirSync(folder));
  const files = new Map<string, StaticFile>();
  for (const name of names) {
    const type = TYPES[extname(name)];
    if (type === undefined) continue;
    const headers = {
      'Cache-Control': HASHED.test(name) ? 'public, max-age=31536000, immutable' : 'public, no-cache',
      'Cross-Origin-Resource-Policy': 'same-origin',
    };
    const form = (suffix: string) => (names.has(name + suffix) ? readFileSync(join(folder, name + suffix)) : null);
    files.set(name, new StaticFile(readFileSync(join(folder, name)), type, headers, { br: form('.br'), gzip: form('.gz') }));
  }
  return { manifest: JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8')) as AppManifest, find: (name) => files.get(name) };
}
