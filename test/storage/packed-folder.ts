/** Packs a folder into one small file, for fixtures in git. Needs `tar`. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { brotliCompressSync, brotliDecompressSync, constants } from 'node:zlib';

const TAR_BYTES_MAX = 1024 * 1024 * 1024;

/** `leaveOut`: paths below the folder. */
export function packFolder(folder: string, file: string, leaveOut: readonly string[] = []): void {
  const owner = ['--owner=0', '--group=0', '--numeric-owner'];
  const excluded = leaveOut.map((path) => `--exclude=./${path}`);
  const tar = execFileSync('tar', ['-c', '-C', folder, '--sort=name', ...owner, ...excluded, '.'], { maxBuffer: TAR_BYTES_MAX });
  // A new cluster has three nearly equal databases; the window must span from one to the next.
  const params = {
    [constants.BROTLI_PARAM_LGWIN]: 24,
    [constants.BROTLI_PARAM_QUALITY]: 9,
    [constants.BROTLI_PARAM_SIZE_HINT]: tar.length,
  };
  writeFileSync(file, brotliCompressSync(tar, { params }));
}

export function unpackFolder(file: string, folder: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  execFileSync('tar', ['-x', '-C', folder, '--no-same-owner'], { input: brotliDecompressSync(readFileSync(file)) });
}
