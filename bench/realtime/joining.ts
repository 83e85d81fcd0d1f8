/** Many who join one large document at once, in a process of its own: what `generate-joining` runs. */
import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import * as Y from 'yjs';
import { Latencies } from '../latency.ts';
import { cpuUs } from '../processes.ts';
import { Client, type Place } from './client.ts';

export interface Joining {
  readonly place: Place;
  readonly joiners: number;
  /** Put into the document first, by edits of a thousand characters each; 0 joins what is there. */
  readonly characters: number;
  readonly serverPid: number;
}

export interface Joined {
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly serverCpuUs: number;
  /** Of the state that each was sent. */
  readonly stateBytes: number;
  /** Characters that a joiner found; all must find the same. */
  readonly characters: number;
}

const EDIT_CHARACTERS = 1000;
const LOOK_AGAIN_MS = 50;

export async function generateJoining(file: string): Promise<void> {
  console.log(JSON.stringify(await join(JSON.parse(readFileSync(file, 'utf8')) as Joining)));
  process.exit(0);
}

async function join({ place, joiners, characters, serverPid }: Joining): Promise<Joined> {
  if (characters > 0) (await fill(place, characters, EDIT_CHARACTERS, 'both ends')).close();
  const latencies = new Latencies();
  const cpuBefore = await cpuUs(serverPid);
  const beganMs = performance.now();
  const states = await Promise.all(
    Array.from({ length: joiners }, async () => {
      const { state } = await Client.join(place);
      latencies.add(performance.now() - beganMs);
      return state;
    }),
  );
  const serverCpuUs = (await cpuUs(serverPid)) - cpuBefore;
  const [first = new Uint8Array()] = states;
  if (states.some((state) => state.byteLength !== first.byteLength)) throw new Error('Joiners were sent different states.');
  const doc = new Y.Doc();
  Y.applyUpdate(doc, first);
  return {
    p50Ms: latencies.percentileMs(0.5),
    p99Ms: latencies.percentileMs(0.99),
    serverCpuUs,
    stateBytes: first.byteLength,
    characters: doc.getText('text').length,
  };
}

/**
 * Writes a text in edits of so many characters. At its end alone they become one piece of the document, at both ends as many pieces as edits.
 * Resolves with the connection when somebody who joins gets all of it.
 */
export async function fill(place: Place, characters: number, editCharacters: number, where: 'end' | 'both ends'): Promise<Client> {
  const { client } = await Client.join(place);
  const doc = new Y.Doc();
  const text = doc.getText('text');
  doc.on('update', (update: Uint8Array) => client.send(update));
  for (let edit = 0; text.length < characters; edit++)
    text.insert(where === 'both ends' && edit % 2 === 0 ? 0 : text.length, String(edit % 10).repeat(editCharacters));
  const wanted = text.length;
  doc.destroy();
  while ((await charactersOf(place)) < wanted) await pause(LOOK_AGAIN_MS);
  return client;
}

async function charactersOf(place: Place): Promise<number> {
  const { client, state } = await Client.join(place);
  client.close();
  const doc = new Y.Doc();
  Y.applyUpdate(doc, state);
  return doc.getText('text').length;
}
