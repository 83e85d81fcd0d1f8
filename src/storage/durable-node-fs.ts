/** PGlite's file system on a folder, made durable: emscripten leaves fsync out, so that a commit would not survive a power cut. */
import { fsyncSync } from 'node:fs';
import { PGlite } from '@electric-sql/pglite';
import { NodeFS } from '@electric-sql/pglite/nodefs';

interface EmscriptenFiles {
  readonly filesystems: { readonly NODEFS: { readonly stream_ops: { fsync?: (stream: { readonly nfd: number }) => number } } };
  readonly ErrnoError: new (errno: number) => Error;
}
/** EIO in WASI's numbering: Postgres then stops rather than trust what it wrote. */
const EIO = 29;

export class DurableNodeFS extends NodeFS {
  readonly #sync: (file: number) => void;

  /** `sync` puts an open file on the disk, or throws. */
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
    // Before Postgres opens its first file.
    return { emscriptenOpts: { ...emscriptenOpts, preRun: [...(emscriptenOpts.preRun ?? []), addFsync] } };
  }
}

/** `-F` would turn fsync off; fdatasync, the default of Linux, is a stub that does nothing in this build. */
export const DURABLE_START_PARAMS: readonly string[] = [
  ...PGlite.defaultStartParams.filter((parameter) => parameter !== '-F'),
  '-c',
  'wal_sync_method=fsync',
];
