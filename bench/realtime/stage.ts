/** What the cases of the suite `realtime` are held on: Easel and its peers as processes of their own, one database, and generators apart. */
import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { startEasel } from '../easel-process.ts';
import { artifactId, type BenchDatabase, registerArtifacts } from '../fixture.ts';
import { newAccount, SERVER_CORE, startPeer } from '../http-stage.ts';
import type { HocuspocusSettings } from '../peers/hocuspocus.ts';
import { freePort, pinned, type Server } from '../processes.ts';
import type { Place } from './client.ts';

const run = promisify(execFile);

const ARTIFACTS = 20_000;
const GENERATOR_CORE = 1;

export interface RealtimePlan {
  readonly quick: boolean;
  readonly cpuProfile: boolean;
  readonly folder: string;
  readonly database: BenchDatabase;
}

/** One server by one of the protocols that it speaks. */
export interface Contender {
  readonly name: string;
  readonly server: Server;
  /** The document of this number. */
  place(number: number): Place;
}

export interface RealtimeStage extends RealtimePlan {
  readonly token: string;
  readonly easel: Contender;
  readonly easelHocuspocus: Contender;
  readonly relay: Contender;
  readonly hocuspocus: Contender;
  readonly yWebsocket: Contender;
  /** A document that no case has used before. */
  fresh(): number;
}

/** Brings the schema, the account and its artifacts, by a first Easel that is stopped again. Answers the account's token. */
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

/** Starts what it puts into `servers`; the caller stops them, also when this fails half-way. */
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

/** The documents of one run, each used by one round of one case. */
export function* documentNumbers(): Generator<number> {
  for (let number = 0; ; number++) yield number;
}

/** Runs a generator in a process of its own on the other core and answers what it reports. */
export async function generated<T>(folder: string, command: string, settings: object): Promise<T> {
  const file = join(folder, `${command}.json`);
  await writeFile(file, JSON.stringify(settings));
  const self = process.argv[1];
  if (self === undefined) throw new Error('The program does not know its own file.');
  const [program, args] = pinned(process.execPath, [self, command, file], GENERATOR_CORE);
  const { stdout } = await run(program, args, { maxBuffer: 64 * 1024 * 1024 });
  const line = stdout.split('\n').findLast((text) => text.startsWith('{'));
  if (line === undefined) throw new Error(`The generator reported nothing:\n${stdout}`);
  return JSON.parse(line) as T;
}
