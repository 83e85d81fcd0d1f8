/** Starts servers as separate processes on one core, waits until they answer, and reads their CPU time from /proc. */
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

export const SERVER_CORE = 0;
export const GENERATOR_CORE = 1;
const START_TIMEOUT_MS = 30_000;
const STOP_TIMEOUT_MS = 15_000;
// USER_HZ of /proc/PID/stat; it is 100 on every Linux architecture that Node supports.
const TICK_US = 10_000;

export interface Server {
  readonly name: string;
  readonly origin: string;
  readonly pid: number;
  /** Time from the start of the process to its first answer. */
  readonly startMs: number;
  signal(name: NodeJS.Signals): void;
  stop(): Promise<void>;
}

interface ServerSpec {
  readonly name: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly port: number;
  /** Requested until it answers 200. */
  readonly readyPath: string;
  /** Null: not pinned. */
  readonly core: number | null;
  /** File that receives what the server prints. */
  readonly log: string;
}

const hasTaskset = (() => {
  try {
    execFileSync('taskset', ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
})();

/** The command that runs `file` on one core; unchanged if taskset is not installed. */
export function pinned(file: string, args: readonly string[], core: number | null): [string, string[]] {
  return hasTaskset && core !== null ? ['taskset', ['-c', String(core), file, ...args]] : [file, [...args]];
}

/** Moves running processes to one core. False if that is not permitted. */
export function moveTo(pids: readonly number[], core: number): boolean {
  if (!hasTaskset) return false;
  return pids
    .map((pid) => spawnSync('taskset', ['-cp', String(core), String(pid)], { stdio: 'ignore' }).status)
    .every((status) => status === 0);
}

export function pinningNote(): string {
  return hasTaskset
    ? `servers pinned to core ${SERVER_CORE}, generator to core ${GENERATOR_CORE}, database not pinned`
    : 'nothing pinned: taskset is not installed';
}

export async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const address = probe.address();
  probe.close();
  if (address === null || typeof address === 'string') throw new Error('The system assigned no port.');
  return address.port;
}

export async function startServer(spec: ServerSpec): Promise<Server> {
  const [file, args] = pinned(process.execPath, spec.args, spec.core);
  const began = performance.now();
  const child = spawn(file, args, { env: { ...process.env, ...spec.env }, stdio: ['ignore', 'pipe', 'pipe'] });
  const log = createWriteStream(spec.log, { flags: 'a' });
  child.stdout.pipe(log);
  child.stderr.pipe(log);
  const origin = `http://127.0.0.1:${spec.port}`;
  try {
    await untilReady(child, `${origin}${spec.readyPath}`, spec);
  } catch (error) {
    child.kill('SIGKILL');
    throw error;
  }
  const { pid } = child;
  if (pid === undefined) throw new Error(`${spec.name} has no process id.`);
  return {
    name: spec.name,
    origin,
    // taskset replaces itself with the program, so the process id is the program's.
    pid,
    startMs: performance.now() - began,
    signal: (name) => child.kill(name),
    stop: () => stop(child),
  };
}

async function untilReady(child: ChildProcess, url: string, spec: ServerSpec): Promise<void> {
  const deadline = performance.now() + START_TIMEOUT_MS;
  while (performance.now() < deadline) {
    if (child.exitCode !== null) {
      const said = await readFile(spec.log, 'utf8').catch(() => '');
      throw new Error(`${spec.name} exited during its start with code ${child.exitCode}:\n${said.slice(-2000)}`);
    }
    const status = await fetch(url, { headers: { connection: 'close' } }).then(
      async (answer) => {
        await answer.arrayBuffer();
        return answer.status;
      },
      // Nothing listens yet.
      () => 0,
    );
    if (status === 200) return;
    await pause(5);
  }
  throw new Error(`${spec.name} did not answer within ${START_TIMEOUT_MS} ms; see ${spec.log}.`);
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  const patience = setTimeout(() => child.kill('SIGKILL'), STOP_TIMEOUT_MS);
  await ended;
  clearTimeout(patience);
}

/** User and system time of a process with all its threads, in µs; 0 if the process does not exist or is not visible. */
export async function cpuUs(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  // The name in parentheses can contain spaces, so fields are counted from the last parenthesis. Fields 14 and 15 are utime and stime.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11] ?? 0) + Number(fields[12] ?? 0)) * TICK_US;
}

/** CPU time of all processes of this machine, plus time stolen by the hypervisor, in µs. */
export async function machineCpuUs(): Promise<number> {
  const stat = await readFile('/proc/stat', 'utf8');
  const [user, nice, system, , , irq, softirq, steal] = stat.slice(stat.indexOf(' '), stat.indexOf('\n')).trim().split(/ +/).map(Number);
  return [user, nice, system, irq, softirq, steal].reduce<number>((sum, ticks) => sum + (ticks ?? 0), 0) * TICK_US;
}

/** CPU time of the threads that a process has now, in µs. Finer than `cpuUs`, for what uses little; it needs a kernel with scheduler statistics. */
export async function fineCpuUs(pid: number): Promise<number> {
  const threads = await readdir(`/proc/${pid}/task`);
  const times = await Promise.all(threads.map((thread) => readFile(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').catch(() => '0')));
  return times.reduce((sum, text) => sum + Number(text.split(' ', 1)[0]) / 1000, 0);
}

export async function cpuUsByPid(pids: readonly number[]): Promise<ReadonlyMap<number, number>> {
  return new Map(await Promise.all(pids.map(async (pid) => [pid, await cpuUs(pid)] as const)));
}

export async function cpuUsOfAll(pids: readonly number[]): Promise<number> {
  const times = await Promise.all(pids.map(cpuUs));
  return times.reduce((sum, us) => sum + us, 0);
}
