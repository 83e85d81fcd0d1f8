/** How many file descriptors the process may have, and how many connections of each kind follow from that. */
import { readFileSync } from 'node:fs';
import { z } from 'zod';
import type { Holders, ShareBounds } from './shares.ts';

/** Where the system does not tell its limit. The usual limit of a process where nobody has raised it. */
const LIMIT_DEFAULT = 1024;
/** Descriptors for everything but connections from outside: a database server, the object store, mail, and what Node itself needs. */
const RESERVE = 150;
const RESERVE_PART = 0.05;
/** The files of the embedded database, which keeps every table and index open that it has used. */
const EMBEDDED_DATABASE = 600;
/** Connections get some descriptors even where the limit is below what the rest may need. */
const RESERVE_PART_MAX = 0.8;
/** Whoever has fewer than this is told at start how to get more. */
export const LIMIT_ADVISED = 8192;

export interface ConnectionCaps {
  /** The limit that all of this follows from. */
  readonly descriptors: number;
  readonly reserve: number;
  /** WebSockets of callers with access. */
  readonly sockets: ShareBounds;
  /** WebSockets whose caller has yet to prove access. They never take the seats of the others. */
  readonly unproven: ShareBounds;
  /** Streams of changes. */
  readonly streams: ShareBounds;
  /** All other connections: requests, and those that wait for one. */
  readonly plain: Pick<ShareBounds, 'total' | 'network'>;
}

/** What the process allows besides its descriptors. */
export interface ConnectionMaxima {
  readonly socketsMax: number;
  readonly socketsPerArtifactMax: number;
  readonly unprovenSocketsMax: number;
  readonly streamsMax: number;
  readonly connectionsMax: number;
}

/** `isEmbedded`: the database runs in this process. */
export function connectionCaps(descriptors: number, maxima: ConnectionMaxima, isEmbedded = false): ConnectionCaps {
  const needed = RESERVE + (isEmbedded ? EMBEDDED_DATABASE : 0) + descriptors * RESERVE_PART;
  const reserve = Math.ceil(Math.min(needed, descriptors * RESERVE_PART_MAX));
  const parts = (part: number, max: number) => Math.min(max, Math.floor((descriptors - reserve) * part));
  const sockets = parts(0.45, maxima.socketsMax);
  // Twice: a socket that the server has closed keeps its descriptor for some seconds where its peer does not close.
  const unproven = parts(0.05, maxima.unprovenSocketsMax);
  const streams = parts(0.15, maxima.streamsMax);
  // Twice: a request may read or write a file.
  const plain = parts(0.15, maxima.connectionsMax);
  return {
    descriptors,
    reserve,
    // Most people behind one address are together at one artifact, as a class is. One network leaves room for others even there.
    sockets: bounds(sockets, { network: 0.6, caller: 0.25, artifact: 0.6 }, maxima.socketsPerArtifactMax),
    unproven: bounds(unproven, { network: 0.25, caller: 0.25, artifact: 0.5 }, maxima.socketsPerArtifactMax),
    streams: bounds(streams, { network: 0.25, caller: 0.125, artifact: 0.5 }, maxima.socketsPerArtifactMax),
    plain: { total: plain, network: Math.ceil(plain * 0.5) },
  };
}

function bounds(total: number, { network, caller, artifact }: Record<keyof Holders, number>, artifactMax: number): ShareBounds {
  const part = (of: number) => Math.ceil(total * of);
  return { total, network: part(network), caller: part(caller), artifact: Math.min(artifactMax, part(artifact)) };
}

const LINE = /^Max open files\s+(\d+|unlimited)\s/m;
/** What `unlimited` is taken for. */
const UNLIMITED = 1_048_576;

/** The text of /proc/self/limits on Linux. Node raises its own limit to the hard one when it starts, so this is read by the process itself. */
export function limitIn(text: string): number | undefined {
  const limit = LINE.exec(text)?.[1];
  if (limit === undefined) return undefined;
  return limit === 'unlimited' ? UNLIMITED : Number(limit);
}

const report = z.object({ userLimits: z.object({ open_files: z.object({ soft: z.union([z.number(), z.literal('unlimited')]) }) }) });

/** The limit of this process: from Linux, else from Node's report (every POSIX system), else a cautious guess. */
export function descriptorLimit(): number {
  try {
    const limit = limitIn(readFileSync('/proc/self/limits', 'utf8'));
    if (limit !== undefined) return limit;
  } catch (error) {
    // Only Linux has this file.
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  const parsed = report.safeParse(process.report.getReport());
  if (!parsed.success) return LIMIT_DEFAULT;
  const { soft } = parsed.data.userLimits.open_files;
  return soft === 'unlimited' ? UNLIMITED : soft;
}
