/** Sets up the suite `realtime`: one database, and Easel, its peers and the generators as separate processes. */
import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { HocuspocusSettings } from '../peers/hocuspocus.ts';
import { newAccount } from '../servers/calls.ts';
import { startEasel } from '../servers/easel-process.ts';
import { artifactId, type BenchDatabase, registerArtifacts } from '../servers/fixture.ts';
import { startPeer } from '../servers/peer-process.ts';
import { freePort, GENERATOR_CORE, pinned, SERVER_CORE, type Server } from '../servers/processes.ts';
import type { Place } from './client.ts';

const run = promisify(execFile);

const ARTIFACTS = 20_000;
export interface RealtimePlan {
  readonly quick: boolean;
  readonly cpuProfile: boolean;
  readonly folder: string;
  readonly database: BenchDatabase;
}

/** A server with one of its protocols. */
export interface Contender {
  readonly name: string;
  readonly server: Server;
  /** The document with this number. */
  place(number: number): Place;
}

export interface RealtimeStage extends RealtimePlan {
  readonly token: string;
  readonly easel: Contender;
  readonly easelHocuspocus: Contender;
  readonly relay: Contender;
  readonly hocuspocus: Contender;
  readonly yWebsocket: Contender;
  /** The number of a document that no case has used. */
  fresh(): number;
}

/** Creates the schema, an account and its artifacts with a first Easel, which is stopped again. Returns the account's token. */
export async function seedRealtime({ folder, database }: RealtimePlan): Promise<string> {
  const server = await startEasel({ dataFolder: join(folder, 'seed'), databaseUrl: database.url, core: null });
  try {
    const { token, userId } = await newAccount(server);
    await registerArtifacts(database.sql, userId, 0, ARTIFACTS);
    return token;
  } finally {
    await server.stop();
  }
}

/** Adds each server that it starts to `servers`; the caller stops them, also if this function fails. */
export async function setRealtimeStage(
  plan: RealtimePlan,
  token: string,
  numbers: Iterator<number>,
  servers: Server[],
): Promise<RealtimeStage> {
  const { folder, database } = plan;
  const server = await startEasel({
    dataFolder: join(folder, 'easel'),
    databaseUrl: database.url,
    core: SERVER_CORE,
    cpuProfileFolder: plan.cpuProfile ? join('bench', 'results', 'profile') : undefined,
  });
  servers.push(server);
  const peer = async (name: string, command: string, more: object = {}) => {
    const port = await freePort();
    const started = await startPeer(name, command, folder, port, { port, ...more });
    servers.push(started);
    return started;
  };
  const relay = await peer('raw relay', 'peer-relay');
  const yWebsocket = await peer('@y/websocket-server', 'peer-y-websocket');
  const hocuspocus = await peer('Hocuspocus', 'peer-hocuspocus', { databaseUrl: database.url } satisfies Omit<HocuspocusSettings, 'port'>);
  return {
    ...plan,
    token,
    easel: { name: 'Easel, y-websocket', server, place: (number) => easelPlace(server, token, number) },
    easelHocuspocus: { name: 'Easel, Hocuspocus', server, place: (number) => easelHocuspocusPlace(server, token, number) },
    relay: { name: relay.name, server: relay, place: (number) => roomPlace(relay, number) },
    yWebsocket: { name: yWebsocket.name, server: yWebsocket, place: (number) => roomPlace(yWebsocket, number) },
    hocuspocus: {
      name: hocuspocus.name,
      server: hocuspocus,
      place: (number) => ({ url: webSocket(hocuspocus), dialect: 'hocuspocus', document: `room-${number}`, token: 'none' }),
    },
    fresh: () => numbers.next().value,
  };
}

export function easelPlace(server: Server, token: string, number: number): Place {
  const url = `${webSocket(server)}/v1/data/${artifactId(number)}/realtime/bench?token=${token}`;
  return { url, dialect: 'y-websocket', document: 'bench', token };
}

function easelHocuspocusPlace(server: Server, token: string, number: number): Place {
  return { url: `${webSocket(server)}/v1/data/${artifactId(number)}/realtime`, dialect: 'hocuspocus', document: 'bench', token };
}

function roomPlace(server: Server, number: number): Place {
  return { url: `${webSocket(server)}/room-${number}`, dialect: 'y-websocket', document: '', token: '' };
}

export function webSocket(server: Server): string {
  return server.origin.replace('http', 'ws');
}

/** Numbers of the run's documents; each is used in one round of one case. */
export function* documentNumbers(): Generator<number> {
  for (let number = 0; ; number++) yield number;
}

/** Runs a generator as a process on its own core, and returns its report. */
export async function generated<T>(folder: string, command: string, settings: object): Promise<T> {
  const file = join(folder, `${command}.json`);
  await writeFile(file, JSON.stringify(settings));
  const self = process.argv[1];
  if (self === undefined) throw new Error('process.argv has no script path.');
  const [program, args] = pinned(process.execPath, [self, command, file], GENERATOR_CORE);
  const { stdout } = await run(program, args, { maxBuffer: 64 * 1024 * 1024 });
  const line = stdout.split('\n').findLast((text) => text.startsWith('{'));
  if (line === undefined) throw new Error(`The generator reported nothing:\n${stdout}`);
  return JSON.parse(line) as T;
}
