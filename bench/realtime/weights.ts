/** What a quiet connection and a document in memory weigh, and what is left of them asleep. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { startEasel } from '../easel-process.ts';
import { SERVER_CORE } from '../http-stage.ts';
import { type Memory, memoryOf, metric } from '../idle-actors.ts';
import type { Server } from '../processes.ts';
import { atMost, rounded } from '../statistics.ts';
import type { Place } from './client.ts';
import type { Part } from './contests.ts';
import type { Holding } from './holding.ts';
import { easelPlace, type RealtimeStage } from './stage.ts';

const CONNECTIONS = 4000;
const DOCUMENTS = 1000;
const CHARACTERS = 10 * 1024;
const IDLE_S = 5;
/** Two of them: there are eight in the time after which an artifact sleeps. */
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
    // The first of everything warms the code up.
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
          'Garbage collected before each reading. A connection by the resident set, which has what is outside the heap; a document by the heap, with its artifact and one connection.',
          'What is left asleep is who may see the artifact, in a cache of at most 20 000, and for a minute its count of calls.',
          'A document in Yjs weighs by its pieces, some 250 bytes each beside its text: what one person types in one go is one piece.',
        ],
      },
      verdicts: [
        atMost('Idle connection', connectionBytes / 1024, 6, 'KB'),
        atMost('Document of 10 KB in memory, typed to the end', bytesEach(typed) / 1024, 40, 'KB'),
        atMost('Artifacts in memory when all sleep', await metric(server, 'easel_actors_resident'), 0, ''),
        atMost(
          `Heap left by ${DOCUMENTS} more that were awake, each`,
          (inPieces.asleep.heapBytes - typed.asleep.heapBytes) / DOCUMENTS / 1024,
          1,
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
  // What was encoded for those who joined is given up at the next sweep.
  await pause(SWEEPS_MS);
  const full = await memoryOf(server);
  await held.release();
  await untilAsleep(server);
  return { before, empty, full, asleep: await memoryOf(server) };
}

/** With its artifact and the connection that holds it. */
function bytesEach({ before, full }: Weighed): number {
  return (full.heapBytes - before.heapBytes) / DOCUMENTS;
}

async function hold(stage: RealtimeStage, holding: Holding): Promise<{ release(): Promise<void> }> {
  const file = join(stage.folder, 'holding.json');
  await writeFile(file, JSON.stringify(holding));
  const self = process.argv[1];
  if (self === undefined) throw new Error('The program does not know its own file.');
  const child = spawn(process.execPath, [self, 'generate-holding', file], { stdio: ['pipe', 'pipe', 'inherit'] });
  const ended = once(child, 'exit');
  await Promise.race([once(child.stdout, 'data'), ended.then(() => Promise.reject(new Error('The connections could not be held.')))]);
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
    if (performance.now() > deadline) throw new Error('Artifacts stay in memory though nobody is connected.');
    await pause(250);
  }
}

function row(when: string, { heapBytes, residentBytes }: Memory, documentBytes?: number): string[] {
  const each = documentBytes === undefined ? '' : rounded(documentBytes / 1024);
  return [when, rounded(heapBytes / 2 ** 20), rounded(residentBytes / 2 ** 20), each];
}
