/** What a follower of changes is told: one text for each thing that changed, whether it comes from the actor or from the store. */
import { isReserved } from '../../../actors/json-part.ts';
import type { Change, StoredComment } from '../../../actors/ports.ts';
import { LIMITS } from '../../../protocol/limits.ts';
import type { ChangeKind, ChangeType } from '../../../protocol/schemas/change.ts';
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
  readonly kind: ChangeKind;
  /** The key, the name of the table or document, or the id of the blob or comment. */
  readonly name: string;
  readonly rowId: string | null;
  readonly data: string | null;
  readonly atMs: number;
  /** Of a row, whose data do not say it. */
  readonly createdAtMs?: number;
}

/** A comment as everybody is told of it, as JSON text. */
export type CommentText = (stored: StoredComment) => string;

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

/** What one commit tells: of a document, which changes many times a second, only the last. */
export function eventsOf(changes: readonly Change[], types: ReadonlySet<ChangeType>, commentText: CommentText): ChangeEvent[] {
  const lastOf = new Map<string, number>();
  for (const change of changes) if (change.kind === 'doc.update') lastOf.set(change.doc, change.seq);
  const events: ChangeEvent[] = [];
  for (const change of changes) {
    const type = typeOfChange(change);
    if (type === undefined || !types.has(type)) continue;
    if (change.kind === 'doc.update' && lastOf.get(change.doc) !== change.seq) continue;
    const thing = thingOf(change, commentText);
    if (thing !== undefined) events.push(eventOf(thing));
  }
  return events;
}

/** Undefined for what nobody is told of. */
export function typeOfChange({ kind }: Change): ChangeType | undefined {
  switch (kind) {
    case 'json.put':
    case 'json.delete':
      return 'json';
    case 'table.put':
    case 'table.drop':
    case 'row.put':
    case 'row.delete':
      return 'tables';
    case 'blob.put':
    case 'blob.delete':
      return 'blobs';
    case 'comment.put':
    case 'comment.delete':
      return 'comments';
    case 'doc.update':
    case 'doc.drop':
      return 'documents';
    case 'comments.config':
      return undefined;
    default:
      return kind satisfies never;
  }
}

function thingOf(change: Change, commentText: CommentText): ChangedThing | undefined {
  const { seq } = change;
  switch (change.kind) {
    case 'json.put':
      return { seq, kind: change.kind, name: change.key, rowId: null, data: change.value, atMs: change.updatedAtMs };
    case 'json.delete':
      return deleted(seq, change.kind, change.key, change.atMs);
    case 'table.put': {
      const data = tableText(change.rowCount, change.schema);
      return { seq, kind: change.kind, name: change.table, rowId: null, data, atMs: change.updatedAtMs };
    }
    case 'table.drop':
      return deleted(seq, change.kind, change.table, change.atMs);
    case 'row.put': {
      const { kind, table: name, rowId, data, updatedAtMs: atMs, createdAtMs } = change;
      return { seq, kind, name, rowId, data, atMs, createdAtMs };
    }
    case 'row.delete':
      return { ...deleted(seq, change.kind, change.table, change.atMs), rowId: change.rowId };
    case 'blob.put':
      return { seq, kind: change.kind, name: change.blobId, rowId: null, data: blobText(change), atMs: change.createdAtMs };
    case 'blob.delete':
      return deleted(seq, change.kind, change.blobId, change.atMs);
    case 'comment.put': {
      const { commentId: id, cause, updatedAtMs } = change;
      return { seq, kind: `comment:${cause}`, name: id, rowId: null, data: commentText({ ...change, id }), atMs: updatedAtMs };
    }
    case 'comment.delete':
      return deleted(seq, 'comment:deleted', change.commentId, change.atMs);
    case 'doc.update':
    case 'doc.drop':
      return deleted(seq, change.kind, change.doc, change.atMs);
    case 'comments.config':
      return undefined;
    default:
      return change satisfies never;
  }
}

function deleted(seq: number, kind: ChangeKind, name: string, atMs: number): ChangedThing {
  return { seq, kind, name, rowId: null, data: null, atMs };
}

function typeOf(kind: ChangeKind): ChangeType {
  if (kind.startsWith('json.')) return 'json';
  if (kind.startsWith('blob.')) return 'blobs';
  if (kind.startsWith('comment:')) return 'comments';
  return kind.startsWith('doc.') ? 'documents' : 'tables';
}

function nameText(type: ChangeType, { name, rowId }: ChangedThing): string {
  if (type === 'json') return `"key":${JSON.stringify(name)},`;
  if (type === 'blobs' || type === 'comments') return `"id":${JSON.stringify(name)},`;
  if (type === 'documents') return `"name":${JSON.stringify(name)},`;
  return `"table":${JSON.stringify(name)},${rowId === null ? '' : `"id":${JSON.stringify(rowId)},`}`;
}

/** Kinds that say all by their name: deletions, and documents, whose content comes over their own socket. */
const WITHOUT_DATA: ReadonlySet<ChangeKind> = new Set([
  'json.delete',
  'table.drop',
  'row.delete',
  'blob.delete',
  'comment:deleted',
  'doc.update',
  'doc.drop',
]);

function dataText({ kind, data }: ChangedThing): string {
  if (WITHOUT_DATA.has(kind)) return '';
  const fits = data !== null && Buffer.byteLength(data) <= LIMITS.changeValueBytesMax;
  return fits ? `"data":${data},` : '"truncated":true,';
}

function createdText({ createdAtMs }: ChangedThing): string {
  return createdAtMs === undefined ? '' : `"createdAt":"${dateTime(createdAtMs)}",`;
}
