/** Memory of quiet connections and loaded documents, and memory left after they are unloaded. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { atMost, rounded } from '../report/statistics.ts';
import { startEasel } from '../servers/easel-process.ts';
import { type Memory, memoryOf, metric } from '../servers/idle-actors.ts';
import type { Server } from '../servers/processes.ts';
import { SERVER_CORE } from '../servers/processes.ts';
import type { Place } from './client.ts';
import type { Part } from './edits.ts';
import type { Holding } from './holding.ts';
import { easelPlace, type RealtimeStage } from './realtime-stage.ts';

const CONNECTIONS = 4000;
const DOCUMENTS = 1000;
const CHARACTERS = 10 * 1024;
const IDLE_S = 5;
/** Two of the sweeps, of which there are eight in the idle time of an artifact. */
const SWEEPS_MS = (2 * IDLE_S * 1000) / 8;
const SLEEP_DEADLINE_MS = 60_000;

export async function memory(stage: RealtimeStage): Promise<Part> {
  const server = await startEasel({
    dataFolder: join(stage.folder, 'weights'),
    databaseUrl: stage.database.url,
    core: SERVER_CORE,
    collectable: true,
    settings: { ACTOR_IDLE_S: String(IDLE_S) },
  });
  try {
    const fresh = (count: number) => Array.from({ length: count }, () => easelPlace(server, stage.token, stage.fresh()));
    // The first pass warms the code up.
    await (await hold(stage, { places: fresh(100), connectionsEach: 2, characters: CHARACTERS, where: 'end' })).release();
    await untilAsleep(server);
    const before = await memoryOf(server);
    const one = await hold(stage, { places: fresh(1), connectionsEach: CONNECTIONS, characters: 0, where: 'end' });
    const connected = await memoryOf(server);
    await one.release();
    await untilAsleep(server);
    const typed = await documents(stage, server, fresh(DOCUMENTS), 'end');
    const inPieces = await documents(stage, server, fresh(DOCUMENTS), 'both ends');
    const connectionBytes = (connected.residentBytes - before.residentBytes) / CONNECTIONS;
    return {
      table: {
        title: `Memory: ${CONNECTIONS} quiet connections, twice ${DOCUMENTS} documents of 10 KB`,
        columns: ['When', 'Heap and external MB', 'Resident MB', 'KB a document'],
        rows: [
          row('nothing', before),
          row(`${CONNECTIONS} connections to one document`, connected),
          row(`${DOCUMENTS} empty documents, a connection each`, typed.empty),
          row('the same with 10 KB each, typed to the end a hundred characters at a time', typed.full, bytesEach(typed)),
          row('asleep', typed.asleep),
          row(`${DOCUMENTS} other empty documents, a connection each`, inPieces.empty),
          row('the same with 10 KB each, typed at both ends: a hundred pieces', inPieces.full, bytesEach(inPieces)),
          row('asleep', inPieces.asleep),
        ],
        notes: [
          'Garbage is collected before each reading. Connections are measured by the resident set, which includes memory outside the heap; documents by the heap, including the artifact and one connection.',
          'The memory left after unloading has not been traced. Access data is cached for at most 20 000 artifacts.',
          'A Yjs document takes about 250 bytes for each item besides its text; consecutive typing of one person is one item.',
        ],
      },
      verdicts: [
        atMost('Idle connection', connectionBytes / 1024, 6, 'KB'),
        atMost('Document of 10 KB in memory, typed to the end', bytesEach(typed) / 1024, 40, 'KB'),
        atMost('Artifacts in memory after all were unloaded', await metric(server, 'easel_actors_resident'), 0, ''),
        atMost(
          `Heap left by ${DOCUMENTS} more unloaded documents, each`,
          (inPieces.asleep.heapBytes - typed.asleep.heapBytes) / DOCUMENTS / 1024,
          0.5,
          'KB',
        ),
      ],
      rounds: { before, connected, typed, inPieces },
    };
  } finally {
    await server.stop();
  }
}

interface Weighed {
  readonly before: Memory;
  readonly empty: Memory;
  readonly full: Memory;
  readonly asleep: Memory;
}

async function documents(stage: RealtimeStage, server: Server, places: readonly Place[], where: Holding['where']): Promise<Weighed> {
  const before = await memoryOf(server);
  const bare = await hold(stage, { places, connectionsEach: 1, characters: 0, where });
  const empty = await memoryOf(server);
  await bare.release();
  const held = await hold(stage, { places, connectionsEach: 1, characters: CHARACTERS, where });
  // The state encoded for joiners is released at the next sweep.
  await pause(SWEEPS_MS);
  const full = await memoryOf(server);
  await held.release();
  await untilAsleep(server);
  return { before, empty, full, asleep: await memoryOf(server) };
}

/** Heap bytes of a document with its artifact and one connection. */
function bytesEach({ before, full }: Weighed): number {
  return (full.heapBytes - before.heapBytes) / DOCUMENTS;
}

async function hold(stage: RealtimeStage, holding: Holding): Promise<{ release(): Promise<void> }> {
  const file = join(stage.folder, 'holding.json');
  await writeFile(file, JSON.stringify(holding));
  const self = process.argv[1];
  if (self === undefined) throw new Error('process.argv has no script path.');
  const child = spawn(process.execPath, [self, 'generate-holding', file], { stdio: ['pipe', 'pipe', 'inherit'] });
  const ended = once(child, 'exit');
  await Promise.race([
    once(child.stdout, 'data'),
    ended.then(() => Promise.reject(new Error('The generator of connections ended early.'))),
  ]);
  return {
    async release() {
      child.stdin.end();
      await ended;
    },
  };
}

async function untilAsleep(server: Server): Promise<void> {
  const deadline = performance.now() + SLEEP_DEADLINE_MS;
  while ((await metric(server, 'easel_actors_resident')) > 0) {
    if (performance.now() > deadline) throw new Error('Artifacts stay in memory although no client is connected.');
    await pause(250);
  }
}

function row(when: string, { heapBytes, residentBytes }: Memory, documentBytes?: number): string[] {
  const each = documentBytes === undefined ? '' : rounded(documentBytes / 1024);
  return [when, rounded(heapBytes / 2 ** 20), rounded(residentBytes / 2 ** 20), each];
}
