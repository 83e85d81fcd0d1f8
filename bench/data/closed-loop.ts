/** The closed-loop cases of the suite `data`: Easel and its peers under as many calls as 64 connections can make. */
import type { Load } from '../load/burst.ts';
import { type Contest, named, type Standing } from '../load/contest.ts';
import { atLeast, atMost, type Verdict } from '../report/statistics.ts';
import { artifactId, KEYS_EACH, VALUE } from '../servers/fixture.ts';
import { EASEL, FASTIFY, RAW } from '../servers/peer-process.ts';
import type { Server } from '../servers/processes.ts';
import type { DataStage } from './data-stage.ts';

export const CONNECTIONS = 64;
/** Each case uses other artifacts, so that none reaches its limit of 1000 calls a minute. */
const READ = { first: 0, count: 4000 };
const WRITTEN = { first: 8000, count: 1000 };
const INSERTED = { first: 9000, count: 1000 };

export interface Case {
  readonly name: string;
  /** Loaded into memory before the measurement, in servers that keep artifacts in memory. */
  readonly artifacts: { readonly first: number; readonly count: number };
  readonly contest: Contest;
  judge(standings: readonly Standing[]): Verdict[];
}

export function readCase(stage: DataStage): Case {
  return {
    name: 'get',
    artifacts: READ,
    contest: {
      ...contestOf(stage),
      title: 'GET of a JSON key',
      contenders: [stage.raw, stage.fastify, stage.easel],
      load: (server) => loadOf(stage, server, 'GET', pathsOf(READ, keyPath)),
      notes: [],
    },
    judge: (standings) => {
      const cpu = (name: string) => named(standings, name).cpuUsEach.median;
      return [atMost('JSON GET: server CPU, Easel to raw uWebSockets.js', cpu(EASEL) / cpu(RAW), 1.6, '×')];
    },
  };
}

export function writeCase(stage: DataStage): Case {
  return {
    name: 'put',
    artifacts: WRITTEN,
    contest: {
      ...contestOf(stage),
      title: `Durable PUT of a JSON key over ${WRITTEN.count} artifacts`,
      contenders: [stage.fastify, stage.easel],
      load: (server) => loadOf(stage, server, 'PUT', pathsOf(WRITTEN, keyPath)),
      notes: [],
    },
    judge: (standings) => [
      atLeast('Durable PUT: throughput, Easel to Fastify + postgres', ratio(standings), 5, '×'),
      atMost(`Durable PUT: p99 of Easel at ${CONNECTIONS} connections`, named(standings, EASEL).p99Ms.median, 20, 'ms'),
    ],
  };
}

export function insertCase(stage: DataStage): Case {
  return {
    name: 'insert',
    artifacts: INSERTED,
    contest: {
      ...contestOf(stage),
      title: `Durable insert of one table row a call over ${INSERTED.count} artifacts`,
      contenders: [stage.fastify, stage.easel],
      // Separate tables, because the peer numbers its rows differently.
      load: (server) =>
        loadOf(
          stage,
          server,
          'POST',
          pathsOf(INSERTED, () => (server === stage.easel ? '/tables/notes' : '/tables/peer_notes')),
        ),
      notes: [`Each row is the ${VALUE.length} bytes of JSON that the keys hold; both write the same tables of the same database.`],
    },
    judge: (standings) => [atLeast('Table insert: throughput, Easel to Fastify + postgres', ratio(standings), 4, '×')],
  };
}

function ratio(standings: readonly Standing[]): number {
  return named(standings, EASEL).requestsPerS.median / named(standings, FASTIFY).requestsPerS.median;
}

function contestOf(stage: DataStage): Pick<Contest, 'rounds' | 'warmUpS' | 'database'> {
  return { rounds: stage.quick ? 1 : 4, warmUpS: stage.quick ? 1 : 2, database: stage.database };
}

function loadOf(stage: DataStage, server: Server, method: Load['method'], targets: readonly string[]): Load {
  const headers = { authorization: `Bearer ${stage.token}` };
  return {
    origin: server.origin,
    method,
    targets,
    repeat: 1,
    headers: method === 'GET' ? headers : { ...headers, 'content-type': 'application/json' },
    ...(method === 'GET' ? {} : { body: VALUE }),
    connections: CONNECTIONS,
    durationS: stage.quick ? 1 : 3,
  };
}

function keyPath(number: number): string {
  return `/json/k${number % KEYS_EACH}`;
}

function pathsOf(artifacts: Case['artifacts'], path: (number: number) => string): string[] {
  return Array.from({ length: artifacts.count }, (_, index) => {
    const number = artifacts.first + index;
    return `/v1/data/${artifactId(number)}${path(number)}`;
  });
}
