/** The attacker's process: prepares an attack, says `ready`, attacks from the first line of its input on, and reports what it was answered when it is told to end. */
import { once, setMaxListeners } from 'node:events';
import { readFileSync } from 'node:fs';
import { type Attack, answers, type Ground } from './attack.ts';
import * as byHttp from './http-attacks.ts';
import * as bySocket from './socket-attacks.ts';

export const ATTACKS: Readonly<Record<string, Attack>> = { ...byHttp, ...bySocket };

export interface AttackOrder extends Ground {
  readonly attack: string;
}

export async function generateAttack(file: string): Promise<void> {
  const order = JSON.parse(readFileSync(file, 'utf8')) as AttackOrder;
  const attack = ATTACKS[order.attack];
  if (attack === undefined) throw new Error(`There is no attack ${order.attack}; known are ${Object.keys(ATTACKS).join(', ')}.`);
  const ending = new AbortController();
  // Each connection of an attack listens to it.
  setMaxListeners(0, ending.signal);
  process.once('SIGTERM', () => ending.abort());
  const run = await attack.prepare(order);
  console.log('ready');
  await once(process.stdin, 'data');
  answers.clear();
  await run(ending.signal);
  console.log(JSON.stringify(Object.fromEntries(answers)));
  // Sockets that nobody reads would keep the process.
  process.exit(0);
}
