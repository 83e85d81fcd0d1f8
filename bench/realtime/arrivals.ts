/** Cases of Easel alone: many clients join at once, a document is loaded from storage, a crowd exchanges presence. */
import { join } from 'node:path';
import { atMost, rounded, spreadOf, withSpread } from '../report/statistics.ts';
import { startEasel } from '../servers/easel-process.ts';
import { artifactId } from '../servers/fixture.ts';
import { SERVER_CORE } from '../servers/processes.ts';
import type { Crowd, Crowded } from './crowd.ts';
import type { Edited, Editing } from './editing.ts';
import type { Part } from './edits.ts';
import type { Joined, Joining } from './joining.ts';
import { easelPlace, generated, type RealtimeStage, webSocket } from './realtime-stage.ts';

const JOINERS = 500;
const LARGE_CHARACTERS = 1_000_000;
const TYPED_EDITS = 250_000;
const TYPED_PER_S = 10_000;
const PEOPLE = 500;

export async function joiners(stage: RealtimeStage): Promise<Part> {
  const rounds: Joined[] = [];
  for (const contender of [stage.easel, stage.relay]) {
    const place = contender.place(stage.fresh());
    const joining = { place, joiners: JOINERS, serverPid: contender.server.pid };
    rounds.push(await generated<Joined>(stage.folder, 'generate-joining', { ...joining, characters: LARGE_CHARACTERS } satisfies Joining));
  }
  const [easel, relay] = rounds;
  if (easel === undefined || relay === undefined) throw new Error('A round is missing.');
  const row = (name: string, joined: Joined) => [
    name,
    rounded(joined.p50Ms),
    rounded(joined.p99Ms),
    rounded(joined.serverCpuUs / JOINERS),
    rounded(joined.stateBytes / 1e6),
  ];
  return {
    table: {
      title: `${JOINERS} join a document of 1 MB at once`,
      columns: ['Server', 'Synced p50 ms', 'p99 ms', 'CPU µs a joiner', 'State MB'],
      rows: [row('Easel', easel), row('raw relay', relay)],
      notes: ['The relay encodes the document for each joiner. One generator on one core receives half a gigabyte.'],
    },
    verdicts: [atMost(`p99 of ${JOINERS} joiners to a document of 1 MB`, easel.p99Ms, 2000, 'ms')],
    rounds: { easel, relay },
  };
}

/** The document is typed once through the server, and then loaded by fresh processes. */
export async function cold(stage: RealtimeStage): Promise<Part> {
  const number = stage.fresh();
  const edits = stage.quick ? TYPED_EDITS / 10 : TYPED_EDITS;
  const editing: Editing = {
    places: [stage.easel.place(number)],
    readersEach: 0,
    editsPerS: TYPED_PER_S,
    warmUpS: 0,
    durationS: edits / TYPED_PER_S,
    editsMax: edits,
    serverPid: stage.easel.server.pid,
  };
  const typed = await generated<Edited>(stage.folder, 'generate-editing', editing);
  await stage.easel.server.stop();
  const loads: Joined[] = [];
  for (let round = 0; round < 3; round++) {
    const easel = await startEasel({ dataFolder: join(stage.folder, `cold-${round}`), databaseUrl: stage.database.url, core: SERVER_CORE });
    try {
      // Another document is loaded first, so that the code is warm.
      const warm = easelPlace(easel, stage.token, stage.fresh());
      const joining = { joiners: 1, serverPid: easel.pid };
      await generated<Joined>(stage.folder, 'generate-joining', { ...joining, place: warm, characters: 10_000 } satisfies Joining);
      const place = easelPlace(easel, stage.token, number);
      loads.push(await generated<Joined>(stage.folder, 'generate-joining', { ...joining, place, characters: 0 } satisfies Joining));
    } finally {
      await easel.stop();
    }
  }
  const ms = spreadOf(loads.map((load) => load.p50Ms));
  const whole = loads.every((load) => load.characters === typed.edits);
  return {
    table: {
      title: `Cold load of a document of ${typed.edits} single-character edits`,
      columns: ['From opening the connection to the state ms', 'State KB', 'Characters found'],
      rows: [[withSpread(ms), rounded((loads[0]?.stateBytes ?? 0) / 1000), loads.map((load) => load.characters).join(', ')]],
      notes: ['In a freshly started process, as the first access to this document.'],
    },
    verdicts: [
      atMost(`Cold load of ${edits} single-character edits`, ms.median, 150, 'ms'),
      { what: 'Characters found after a restart', aim: String(typed.edits), value: whole ? 'all' : 'not all', reached: whole },
    ],
    rounds: { typed, loads },
  };
}

export async function crowd(stage: RealtimeStage): Promise<Part> {
  const rounds: Crowded[] = [];
  for (let round = 0; round < (stage.quick ? 1 : 2); round++) {
    const url = `${webSocket(stage.easel.server)}/v1/data/${artifactId(stage.fresh())}/channels?token=${stage.token}`;
    const plan: Crowd = { url, people: PEOPLE, movesPerS: 1, durationS: stage.quick ? 3 : 10, serverPid: stage.easel.server.pid };
    const crowded = await generated<Crowded>(stage.folder, 'generate-crowd', plan);
    console.log(
      `  presence of ${PEOPLE}, round ${round + 1}: p95 ${rounded(crowded.p95Ms)} ms, generator ${Math.round(crowded.generatorShare * 100)} %`,
    );
    rounds.push(crowded);
  }
  const of = (pick: (round: Crowded) => number) => spreadOf(rounds.map(pick));
  const undelivered = rounds.reduce((sum, round) => sum + round.undelivered, 0);
  return {
    table: {
      title: `Presence: ${PEOPLE} people, each moves once a second and sees all others`,
      columns: ['Seen p50 ms', 'p95 ms', 'CPU µs a move', 'Moves seen of all', 'Last move not seen', 'Generator'],
      rows: [
        [
          withSpread(of((round) => round.p50Ms)),
          withSpread(of((round) => round.p95Ms)),
          withSpread(of((round) => round.serverCpuUs / round.moves)),
          `${rounded(of((round) => round.seen / (round.moves * (PEOPLE - 1))).median * 100)} %`,
          String(undelivered),
          `${Math.round(of((round) => round.generatorShare).max * 100)} %`,
        ],
      ],
      notes: ['A move that is replaced by a later one of the same person within a frame counts as not seen. The last move must be seen.'],
    },
    verdicts: [
      atMost(`p95 until a move is seen among ${PEOPLE}`, of((round) => round.p95Ms).median, 150, 'ms'),
      atMost('Last moves not seen by everybody', undelivered, 0, ''),
    ],
    rounds,
  };
}
