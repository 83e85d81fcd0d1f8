/** Generator `generate-joining`, a separate process: many clients join one large document at once. */
import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import * as Y from 'yjs';
import { Latencies } from '../load/latency.ts';
import { cpuUs } from '../servers/processes.ts';
import { Client, type Place } from './client.ts';

export interface Joining {
  readonly place: Place;
  readonly joiners: number;
  /** Characters written to the document first, in edits of a thousand each; 0 joins the existing document. */
  readonly characters: number;
  readonly serverPid: number;
}

export interface Joined {
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly serverCpuUs: number;
  /** Size of the state that each joiner received. */
  readonly stateBytes: number;
  /** Characters that each joiner received. */
  readonly characters: number;
}

export type Where = 'end' | 'both ends';

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
  if (states.some((state) => state.byteLength !== first.byteLength)) throw new Error('Joiners received different states.');
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
 * Writes a text in edits of `editCharacters`. Appended edits become one Yjs item; edits at both ends become one item each.
 * Resolves with the connection once a joiner receives the whole text.
 */
export async function fill(place: Place, characters: number, editCharacters: number, where: Where): Promise<Client> {
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
