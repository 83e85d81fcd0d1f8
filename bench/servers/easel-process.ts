/** Starts the built Easel as a separate process, as it is deployed. */
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort, type Server, startServer } from './processes.ts';

// The bench is bundled into dist, beside the program.
const MAIN = join(dirname(fileURLToPath(import.meta.url)), 'main.js');

/** Collects garbage on SIGUSR2, so that memory readings exclude garbage. */
const COLLECT_ON_SIGNAL = 'data:text/javascript,process.on("SIGUSR2",()=>{globalThis.gc();globalThis.gc()})';

export interface EaselOptions {
  readonly dataFolder: string;
  /** Null for the embedded database. */
  readonly databaseUrl: string | null;
  readonly core: number | null;
  readonly collectable?: boolean;
  readonly cpuProfileFolder?: string | undefined;
  /** Settings beyond the defaults. */
  readonly settings?: Readonly<Record<string, string>>;
}

export async function startEasel(options: EaselOptions): Promise<Server> {
  const port = await freePort();
  // The flags of `npm start`.
  const node: string[] = ['--enable-source-maps', '--max-semi-space-size=32'];
  if (options.collectable) node.push('--expose-gc', '--import', COLLECT_ON_SIGNAL);
  if (options.cpuProfileFolder) node.push('--cpu-prof', `--cpu-prof-dir=${options.cpuProfileFolder}`);
  return startServer({
    name: 'Easel',
    args: [...node, MAIN],
    env: {
      PORT: String(port),
      DATA_DIR: options.dataFolder,
      DATABASE_URL: options.databaseUrl ?? '',
      // Public pages require a paid tier.
      DEFAULT_TIER: 'team',
      ...options.settings,
    },
    port,
    readyPath: '/readyz',
    core: options.core,
    log: `${options.dataFolder}.log`,
  });
}
