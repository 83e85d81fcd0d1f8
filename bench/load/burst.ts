/** The closed-loop generator: a burst of HTTP requests over a fixed number of connections, from a process on another core than the server. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { pinned } from '../servers/processes.ts';

const run = promisify(execFile);

export type GeneratorName = 'wrk' | 'autocannon';

export interface Load {
  /** Origin of the server, for example `http://127.0.0.1:9000`. */
  readonly origin: string;
  readonly method: 'GET' | 'PUT' | 'POST';
  /** Request targets, called in order. */
  readonly targets: readonly string[];
  /** Number of calls of a target before the next one. */
  readonly repeat: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly connections: number;
  readonly durationS: number;
}

export interface Measured {
  readonly requests: number;
  readonly requestsPerS: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Answers other than 2xx, and connections that failed. */
  readonly failures: number;
}

export async function chooseGenerator(wanted: string | undefined): Promise<GeneratorName> {
  if (wanted === 'autocannon') return 'autocannon';
  const installed = await run('wrk', ['-v']).then(
    () => true,
    // wrk prints its version and exits with 1.
    (error: { code?: unknown }) => error.code === 1,
  );
  if (wanted !== undefined && !(wanted === 'wrk' && installed)) throw new Error(`The generator ${wanted} is unknown or not installed.`);
  return installed ? 'wrk' : 'autocannon';
}

export async function generate(generator: GeneratorName, load: Load, core: number): Promise<Measured> {
  const folder = await mkdtemp(join(tmpdir(), 'easel-load-'));
  try {
    const [file, args] = generator === 'wrk' ? await wrkCommand(folder, load) : await autocannonCommand(folder, load);
    const [pinnedFile, pinnedArgs] = pinned(file, args, core);
    const { stdout } = await run(pinnedFile, pinnedArgs, { maxBuffer: 16 * 1024 * 1024 });
    const line = stdout.split('\n').findLast((text) => text.startsWith('{'));
    if (line === undefined) throw new Error(`The generator reported nothing:\n${stdout}`);
    const measured = JSON.parse(line) as Measured;
    if (measured.failures > 0)
      throw new Error(`${measured.failures} of ${measured.requests} requests to ${load.origin} failed: the run is void.`);
    return measured;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function wrkCommand(folder: string, load: Load): Promise<[string, string[]]> {
  const targets = join(folder, 'targets');
  const script = join(folder, 'load.lua');
  await writeFile(targets, load.targets.join('\n'));
  const headers = Object.entries(load.headers).map(([name, value]) => `wrk.headers[${JSON.stringify(name)}] = ${JSON.stringify(value)}`);
  await writeFile(script, [`wrk.method = "${load.method}"`, `wrk.body = ${luaText(load.body)}`, ...headers, LUA].join('\n'));
  const shape = ['-t1', `-c${load.connections}`, `-d${load.durationS}s`, '--latency', '-s', script];
  return ['wrk', [...shape, load.origin, '--', targets, String(load.repeat)]];
}

function luaText(text: string | undefined): string {
  return text === undefined ? 'nil' : JSON.stringify(text);
}

/** Formats every request before the run, so that the generator's core is not the limit. */
const LUA = `
local list, times, count = {}, 1, 0
function init(args)
  for line in io.lines(args[1]) do list[#list + 1] = wrk.format(nil, line) end
  times = tonumber(args[2])
end
function request()
  local index = math.floor(count / times) % #list + 1
  count = count + 1
  return list[index]
end
function done(summary, latency)
  local errors = summary.errors
  local failures = errors.connect + errors.read + errors.write + errors.status + errors.timeout
  io.write(string.format('{"requests":%d,"requestsPerS":%f,"p50Ms":%f,"p99Ms":%f,"failures":%d}\\n',
    summary.requests, summary.requests / summary.duration * 1e6,
    latency:percentile(50) / 1000, latency:percentile(99) / 1000, failures))
end
`;

async function autocannonCommand(folder: string, load: Load): Promise<[string, string[]]> {
  const file = join(folder, 'load.json');
  await writeFile(file, JSON.stringify(load));
  const self = process.argv[1];
  if (self === undefined) throw new Error('process.argv has no script path.');
  return [process.execPath, [self, 'generate', file]];
}
