/** Connections that are open and quiet, in a process of its own: what `generate-holding` runs. Holds them until its standard input ends. */
import { readFileSync } from 'node:fs';
import { Client, type Place } from './client.ts';
import { fill } from './joining.ts';

export interface Holding {
  readonly places: readonly Place[];
  readonly connectionsEach: number;
  /** Of the text that each document is given by the first of its connections. */
  readonly characters: number;
  /** Where its edits are made. */
  readonly where: 'end' | 'both ends';
}

const JOINS_AT_ONCE = 50;
const EDIT_CHARACTERS = 100;

export async function generateHolding(file: string): Promise<void> {
  const { places, connectionsEach, characters, where } = JSON.parse(readFileSync(file, 'utf8')) as Holding;
  // Read by the server as any other text; the connections that wrote it are closed again.
  for (const place of characters > 0 ? places : []) (await fill(place, characters, EDIT_CHARACTERS, where)).close();
  const all = places.flatMap((place) => Array.from({ length: connectionsEach }, () => place));
  for (let first = 0; first < all.length; first += JOINS_AT_ONCE) {
    await Promise.all(all.slice(first, first + JOINS_AT_ONCE).map((place) => Client.join(place)));
  }
  console.log(JSON.stringify({ joined: all.length }));
  process.stdin.resume().once('end', () => process.exit(0));
}
