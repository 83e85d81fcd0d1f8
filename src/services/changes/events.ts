/** What a follower of changes is told: one text for each thing that changed, whether it comes from the actor or from the store. */
import { isReserved } from '../../../actors/json-part.ts';
import type { Change } from '../../../actors/ports.ts';
import { LIMITS } from '../../../protocol/limits.ts';
import type { ChangeType } from '../../../protocol/schemas/change.ts';
import { dateTime } from '../artifact-rows.ts';

export interface ChangeEvent {
  readonly seq: number;
  readonly type: ChangeType;
  /** Of a key that only owner and editors may see. */
  readonly reserved: boolean;
  /** The event as JSON, on one line. */
  readonly json: string;
}

/** A change as both sources know it. `data` is JSON text; null where it is left out. */
export interface ChangedThing {
  readonly seq: number;
  readonly kind: Change['kind'];
  /** The key, the table's name, or the blob's id. */
  readonly name: string;
  readonly rowId: string | null;
  readonly data: string | null;
  readonly atMs: number;
  /** Of a row, whose data do not say it. */
  readonly createdAtMs?: number;
}

/** What a table and a blob are described by, as JSON text. */
export function tableText(rowCount: number, schema: string | null): string {
  return `{"rowCount":${rowCount},"schema":${schema ?? 'null'}}`;
}

export function blobText(blob: { filename: string; mimeType: string; sizeBytes: number; createdAtMs: number }): string {
  const { filename, mimeType, sizeBytes, createdAtMs } = blob;
  return JSON.stringify({ filename, mimeType, sizeBytes, createdAt: dateTime(createdAtMs) });
}

export function eventOf(thing: ChangedThing): ChangeEvent {
  const { seq, kind, name } = thing;
  const type = typeOf(kind);
  const json = `{"seq":${seq},"kind":"${kind}",${nameText(type, thing)}${dataText(thing)}${createdText(thing)}"updatedAt":"${dateTime(thing.atMs)}"}`;
  // Outside its strings a stored value may be broken over lines, which would end the event.
  return { seq, type, reserved: type === 'json' && isReserved(name), json: json.replace(/[\r\n]+/g, ' ') };
}

/** Undefined for what this stream does not tell of. */
export function thingOf(change: Change): ChangedThing | undefined {
  const { seq, kind } = change;
  switch (change.kind) {
    case 'json.put':
      return { seq, kind, name: change.key, rowId: null, data: change.value, atMs: change.updatedAtMs };
    case 'json.delete':
      return { seq, kind, name: change.key, rowId: null, data: null, atMs: change.atMs };
    case 'table.put':
      return { seq, kind, name: change.table, rowId: null, data: tableText(change.rowCount, change.schema), atMs: change.updatedAtMs };
    case 'table.drop':
      return { seq, kind, name: change.table, rowId: null, data: null, atMs: change.atMs };
    case 'row.put':
      return {
        seq,
        kind,
        name: change.table,
        rowId: change.rowId,
        data: change.data,
        atMs: change.updatedAtMs,
        createdAtMs: change.createdAtMs,
      };
    case 'row.delete':
      return { seq, kind, name: change.table, rowId: change.rowId, data: null, atMs: change.atMs };
    case 'blob.put':
      return { seq, kind, name: change.blobId, rowId: null, data: blobText(change), atMs: change.createdAtMs };
    case 'blob.delete':
      return { seq, kind, name: change.blobId, rowId: null, data: null, atMs: change.atMs };
    case 'doc.update':
    case 'doc.drop':
    case 'comment.put':
    case 'comment.delete':
    case 'comments.config':
      return undefined;
    default:
      return change satisfies never;
  }
}

function typeOf(kind: Change['kind']): ChangeType {
  if (kind.startsWith('json.')) return 'json';
  return kind.startsWith('blob.') ? 'blobs' : 'tables';
}

function nameText(type: ChangeType, { name, rowId }: ChangedThing): string {
  if (type === 'json') return `"key":${JSON.stringify(name)},`;
  if (type === 'blobs') return `"id":${JSON.stringify(name)},`;
  return `"table":${JSON.stringify(name)},${rowId === null ? '' : `"id":${JSON.stringify(rowId)},`}`;
}

function dataText({ kind, data }: ChangedThing): string {
  if (kind.endsWith('.delete') || kind.endsWith('.drop')) return '';
  const fits = data !== null && Buffer.byteLength(data) <= LIMITS.changeValueBytesMax;
  return fits ? `"data":${data},` : '"truncated":true,';
}

function createdText({ createdAtMs }: ChangedThing): string {
  return createdAtMs === undefined ? '' : `"createdAt":"${dateTime(createdAtMs)}",`;
}
