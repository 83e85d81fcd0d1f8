/** Generator `generate-crowd`, a separate process: a crowd that moves cursors on the presence channel. */
import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { WebSocket } from 'ws';
import { Latencies } from '../load/latency.ts';
import { cpuUs } from '../servers/processes.ts';

export interface Crowd {
  /** Address of an artifact's channels, with a token. */
  readonly url: string;
  readonly people: number;
  /** Moves of each person. */
  readonly movesPerS: number;
  readonly durationS: number;
  readonly serverPid: number;
}

export interface Crowded {
  readonly moves: number;
  /** Moves of others received, counted for each receiver. */
  readonly seen: number;
  /** People whose last move was not seen by everybody. */
  readonly undelivered: number;
  readonly p50Ms: number;
  readonly p95Ms: number;
  readonly serverCpuUs: number;
  readonly generatorShare: number;
}

interface Move {
  readonly by: number;
  readonly sentMs: number;
  readonly number: number;
}

const JOINS_AT_ONCE = 50;
const SETTLE_DEADLINE_MS = 10_000;

class Member {
  readonly #socket: WebSocket;
  /** Number of the last move seen, by person. */
  readonly seen: number[] = [];
  onMove: (move: Move) => void = () => undefined;

  private constructor(url: string) {
    this.#socket = new WebSocket(url, { perMessageDeflate: false });
    this.#socket.on('message', (frame: Buffer) => this.#hear(frame.toString()));
  }

  static async join(url: string): Promise<Member> {
    const member = new Member(url);
    await new Promise<void>((resolve, reject) => {
      member.#socket.once('error', reject);
      member.#socket.once('open', () => {
        member.#socket.send(JSON.stringify({ type: 'subscribe', channel: 'presence' }));
        resolve();
      });
    });
    return member;
  }

  move(move: Move): void {
    this.#socket.send(JSON.stringify({ type: 'presence', state: move }));
  }

  close(): void {
    this.#socket.terminate();
  }

  /** Finds the states in a frame, independent of the frame's format. */
  #hear(text: string): void {
    for (const [, state = ''] of text.matchAll(/"state":(\{[^}]*\})/g)) {
      const move = JSON.parse(state) as Partial<Move>;
      if (move.by === undefined || move.number === undefined || move.sentMs === undefined) continue;
      if ((this.seen[move.by] ?? -1) >= move.number) continue;
      this.seen[move.by] = move.number;
      this.onMove(move as Move);
    }
  }
}

export async function generateCrowd(file: string): Promise<void> {
  console.log(JSON.stringify(await gather(JSON.parse(readFileSync(file, 'utf8')) as Crowd)));
  process.exit(0);
}

async function gather({ url, people, movesPerS, durationS, serverPid }: Crowd): Promise<Crowded> {
  const members: Member[] = [];
  while (members.length < people) {
    const some = Math.min(JOINS_AT_ONCE, people - members.length);
    members.push(...(await Promise.all(Array.from({ length: some }, () => Member.join(url)))));
  }
  const latencies = new Latencies();
  let seen = 0;
  const moved = members.map(() => -1);
  for (const member of members) {
    member.onMove = (move) => {
      seen += 1;
      latencies.add(performance.now() - move.sentMs);
    };
  }
  const cpuBefore = await cpuUs(serverPid);
  const ownBefore = process.cpuUsage();
  const beganMs = performance.now();
  const gapMs = 1000 / movesPerS;
  for (;;) {
    const nowMs = performance.now() - beganMs;
    if (nowMs >= durationS * 1000) break;
    for (const [by, member] of members.entries()) {
      const due = Math.floor((nowMs - (by / people) * gapMs) / gapMs);
      if (due <= (moved[by] ?? -1)) continue;
      moved[by] = due;
      member.move({ by, number: due, sentMs: performance.now() });
    }
    await pause(1);
  }
  const undelivered = await untilSeen(members, moved);
  const elapsedMs = performance.now() - beganMs;
  const own = process.cpuUsage(ownBefore);
  const serverCpuUs = (await cpuUs(serverPid)) - cpuBefore;
  for (const member of members) member.close();
  return {
    moves: moved.reduce((sum, number) => sum + number + 1, 0),
    seen,
    undelivered,
    p50Ms: latencies.percentileMs(0.5),
    p95Ms: latencies.percentileMs(0.95),
    serverCpuUs,
    generatorShare: (own.user + own.system) / (elapsedMs * 1000),
  };
}

/** Waits until everybody has seen all last moves; returns how many were not seen. */
async function untilSeen(members: readonly Member[], moved: readonly number[]): Promise<number> {
  const deadline = performance.now() + SETTLE_DEADLINE_MS;
  const missing = () =>
    members.reduce((sum, { seen }, me) => sum + moved.filter((number, by) => by !== me && (seen[by] ?? -1) < number).length, 0);
  while (missing() > 0 && performance.now() < deadline) await pause(20);
  return missing();
}
