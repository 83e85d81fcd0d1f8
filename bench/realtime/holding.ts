/** Generator `generate-holding`, a separate process: holds quiet connections open until its standard input ends. */
import { readFileSync } from 'node:fs';
import { Client, type Place } from './client.ts';
import { fill, type Where } from './joining.ts';

export interface Holding {
  readonly places: readonly Place[];
  readonly connectionsEach: number;
  /** Length of the text that the first connection of each document writes. */
  readonly characters: number;
  /** The position of its edits in the text. */
  readonly where: Where;
}

const JOINS_AT_ONCE = 50;
const EDIT_CHARACTERS = 100;

export async function generateHolding(file: string): Promise<void> {
  const { places, connectionsEach, characters, where } = JSON.parse(readFileSync(file, 'utf8')) as Holding;
  // Written through the server like any text; the writing connections are closed again.
  for (const place of characters > 0 ? places : []) (await fill(place, characters, EDIT_CHARACTERS, where)).close();
  const all = places.flatMap((place) => Array.from({ length: connectionsEach }, () => place));
  for (let first = 0; first < all.length; first += JOINS_AT_ONCE) {
    await Promise.all(all.slice(first, first + JOINS_AT_ONCE).map((place) => Client.join(place)));
  }
  console.log(JSON.stringify({ joined: all.length }));
  process.stdin.resume().once('end', () => process.exit(0));
}
