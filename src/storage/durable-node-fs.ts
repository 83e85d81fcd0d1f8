/** PGlite's file system on a folder, made durable: emscripten leaves fsync out, so that a commit would not survive a power cut. */
import { fsyncSync } from 'node:fs';
import { PGlite } from '@electric-sql/pglite';
import { NodeFS } from '@electric-sql/pglite/nodefs';

interface EmscriptenFiles {
  readonly filesystems: { readonly NODEFS: { readonly stream_ops: { fsync?: (stream: { readonly nfd: number }) => number } } };
  readonly ErrnoError: new (errno: number) => Error;
}
/** EIO in WASI's numbering. Postgres panics on it, because the state of what it wrote is unknown. */
const EIO = 29;

export class DurableNodeFS extends NodeFS {
  readonly #sync: (file: number) => void;

  /** `sync` flushes an open file to the disk, or throws. */
  constructor(directory: string, sync: (file: number) => void = fsyncSync) {
    super(directory);
    this.#sync = sync;
  }

  override async init(...[pg, options]: Parameters<NodeFS['init']>): ReturnType<NodeFS['init']> {
    const { emscriptenOpts } = await super.init(pg, options);
    const addFsync = (module: { readonly FS: unknown }) => {
      const files = module.FS as EmscriptenFiles;
      files.filesystems.NODEFS.stream_ops.fsync = (stream) => {
        try {
          this.#sync(stream.nfd);
        } catch {
          throw new files.ErrnoError(EIO);
        }
        return 0;
      };
    };
    // Must run before Postgres opens its first file.
    return { emscriptenOpts: { ...emscriptenOpts, preRun: [...(emscriptenOpts.preRun ?? []), addFsync] } };
  }
}

/** `-F` would turn fsync off. fdatasync, the default on Linux, is a no-op in this build, so fsync is named. */
export const EMBEDDED_START_PARAMS: readonly string[] = [
  ...PGlite.defaultStartParams.filter((parameter) => parameter !== '-F'),
  '-c',
  'wal_sync_method=fsync',
  // With the default of 4 MB a commit writes a large value to temporary files, and reads it back, in blocks of 8 KB. One query runs at a time.
  '-c',
  'work_mem=64MB',
];
