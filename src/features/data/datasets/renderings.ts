/**
 * The bytes of a version in each format, and any range of them. Lines of JSON are what is stored. A JSON array differs from them in one byte
 * a row. CSV is written block by block; the length of each block is known without writing it, so that a range begins where it should.
 */
import type { DatasetFormat } from '../../../../protocol/data/datasets.ts';
import { loopTurns } from '../../../platform/loop-turns.ts';
import type { ObjectStore } from '../../../storage/objects.ts';
import { csvLine } from '../tables/csv.ts';
import type { Block } from './encode.ts';
import type { StoredDataset } from './rows.ts';

const NEWLINE = 0x0a;
const COMMA = 0x2c;
const LINE_END_BYTES = 2;

export type Objects = Pick<ObjectStore, 'readRange'>;

export interface Rendering {
  readonly sizeBytes: number;
  /** The bytes from `start` to `end`, both included. A chunk is valid until the next is asked for. */
  read(start: number, end: number): AsyncIterable<Uint8Array>;
}

export function rendering(objects: Objects, stored: StoredDataset, format: DatasetFormat, lane: string): Rendering {
  switch (format) {
    case 'ndjson':
      return { sizeBytes: stored.sizeBytes, read: (start, end) => objects.readRange(stored.sha256, start, end) };
    case 'json':
      return jsonArray(objects, stored);
    case 'csv':
      return csvFile(objects, stored, lane);
    default:
      return format satisfies never;
  }
}

/** A bracket, then the lines with commas in place of their ends, and a bracket in place of the last. */
function jsonArray(objects: Objects, { sha256, sizeBytes: lineBytes, rows }: StoredDataset): Rendering {
  if (rows === 0) return ofBytes(Buffer.from('[]'));
  return {
    sizeBytes: lineBytes + 1,
    async *read(start, end) {
      if (start === 0) yield Buffer.from('[');
      let at = Math.max(start, 1);
      if (end < at) return;
      for await (const chunk of objects.readRange(sha256, at - 1, end - 1)) {
        const bytes = Buffer.from(chunk);
        // A JSON text has no line breaks but those between the rows.
        for (let found = bytes.indexOf(NEWLINE); found >= 0; found = bytes.indexOf(NEWLINE, found + 1)) bytes[found] = COMMA;
        at += bytes.length;
        if (at === lineBytes + 1) bytes[bytes.length - 1] = 0x5d;
        yield bytes;
      }
    },
  };
}

function csvFile(objects: Objects, stored: StoredDataset, lane: string): Rendering {
  const names = stored.columns.map(({ name }) => name);
  const head = Buffer.from(csvLine(names));
  const rowBytes = Math.max(0, names.length - 1) + LINE_END_BYTES;
  const startOf = ([row, , cellBytes]: Block) => head.length + cellBytes + row * rowBytes;
  const sizeBytes = startOf([stored.rows, stored.sizeBytes, stored.cellBytes]);
  return {
    sizeBytes,
    async *read(start, end) {
      if (start < head.length) yield head.subarray(start, end + 1);
      for (let index = lastBlock(stored.blocks, (block) => startOf(block) <= start); index < stored.blocks.length; index += 1) {
        const block = stored.blocks[index];
        if (block === undefined || startOf(block) > end) return;
        const lines = await blockLines(objects, stored, index, lane);
        const bytes = Buffer.from(lines.map((line) => csvOf(names, line)).join(''));
        const from = Math.max(0, start - startOf(block));
        yield bytes.subarray(from, end - startOf(block) + 1);
      }
    },
  };
}

function csvOf(names: readonly string[], line: string): string {
  const row = JSON.parse(line);
  return csvLine(names.map((name) => (Object.hasOwn(row, name) ? row[name] : undefined)));
}

/** The rows of a block as they are stored, when it is the turn of `lane`. */
export async function blockLines(objects: Objects, { sha256, sizeBytes, blocks }: StoredDataset, index: number, lane: string) {
  const start = blocks[index]?.[1] ?? sizeBytes;
  const end = blocks[index + 1]?.[1] ?? sizeBytes;
  const bytes = Buffer.allocUnsafe(end - start);
  let filled = 0;
  for await (const chunk of objects.readRange(sha256, start, end - 1)) {
    bytes.set(chunk, filled);
    filled += chunk.length;
  }
  await loopTurns.next(lane);
  // Without the end of the last line, which would leave an empty one.
  return bytes.toString('utf8', 0, bytes.length - 1).split('\n');
}

/** The last block for which `isBefore` holds, of which all before it hold too; the first where none does. */
export function lastBlock(blocks: readonly Block[], isBefore: (block: Block) => boolean): number {
  let low = 0;
  let high = blocks.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    const block = blocks[middle];
    if (block !== undefined && isBefore(block)) low = middle + 1;
    else high = middle;
  }
  return Math.max(0, low - 1);
}

function ofBytes(bytes: Buffer): Rendering {
  return {
    sizeBytes: bytes.length,
    async *read(start, end) {
      yield bytes.subarray(start, end + 1);
    },
  };
}
