/** What an entry of the catalog shows and takes, decided without I/O. */
import type { z } from 'zod';
import { Failure } from '../../../../protocol/core/errors.ts';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import type { CatalogUpdate, catalogEntry, catalogFacets } from '../../../../protocol/library/catalog.ts';
import { contentDigest } from '../../../edge/answer.ts';
import { dateTime } from '../../../platform/date-time.ts';
import type { EntryRow, FacetRow, FieldNote, Written } from './rows.ts';

type Entry = z.input<typeof catalogEntry>;

const FIELDS_IN_LISTS = 50;
const WORDS_MAX = 8;

export function wordsOf(q: string): string[] {
  const words = q.split(/\s+/).filter((word) => word !== '');
  return words.slice(0, WORDS_MAX);
}

export function presentEntry(row: EntryRow, fieldsMax = Number.POSITIVE_INFINITY): Entry {
  const fields = fieldsOf(row);
  const { id, kind, name, domain, description } = row;
  return {
    id,
    kind,
    name,
    domain,
    tags: [...row.tags],
    description,
    owner: row.owner_id === null ? null : { id: row.owner_id, name: row.owner_name },
    fields: fields.slice(0, fieldsMax),
    fields_total: fields.length,
    source: sourceOf(row),
    freshness: { changed_at: row.changed_at_ms === null ? null : dateTime(row.changed_at_ms), rows: row.row_count },
    updated_at: dateTime(row.updated_at_ms),
  };
}

export function presentListed(row: EntryRow): Entry {
  return presentEntry(row, FIELDS_IN_LISTS);
}

function sourceOf({ id, kind, artifact_id, connection_id, source_name, name }: EntryRow): Entry['source'] {
  if (artifact_id !== null) return { type: 'artifact', id: artifact_id, name: source_name };
  if (connection_id !== null) return { type: 'connection', id: connection_id, name };
  if (kind !== 'note') throw new Error(`the entry ${id} describes nothing`);
  return { type: 'note', id, name };
}

/** Those of the thing itself, with what people have written about each. */
function fieldsOf({ kind, columns, field_notes }: EntryRow): FieldNote[] {
  if (kind === 'note') return field_notes.map(({ name, type, description }) => ({ name, type, description }));
  if (columns === null) return [];
  const read: unknown = JSON.parse(columns);
  const listed = (Array.isArray(read) ? read : ((read as { readonly columns?: unknown }).columns ?? [])) as readonly FieldNote[];
  const notes = new Map(field_notes.map(({ name, description }) => [name, description]));
  return listed.map(({ name, type }) => ({ name, type, description: notes.get(name) ?? '' }));
}

/** Changes of the data alone are none that a write could miss. */
export function etagOf(row: EntryRow): string {
  return `"${row.written_at_ms.toString(36)}.${contentDigest(JSON.stringify(presentEntry(row)))}"`;
}

/** What is stored after a change. Throws INVALID_REQUEST for what follows from the thing itself. */
export function changedEntry(row: EntryRow, change: CatalogUpdate): Written {
  const isNote = row.kind === 'note';
  if (!isNote && change.name !== undefined && change.name !== row.name) throw derived('name');
  if (!isNote && givesAway(row, change)) throw derived('owner', 'It belongs to whoever owns the page or has made the connection.');
  const known = new Set(fieldsOf(row).map(({ name }) => name));
  const fields = change.fields?.map(({ name, type = '', description = '' }) => ({ name, type, description }));
  if (!isNote && fields?.some(({ name }) => !known.has(name))) throw derived('fields');
  return {
    id: row.id,
    kind: row.kind,
    artifactId: row.artifact_id,
    thing: row.artifact_id === null ? null : row.name,
    connectionId: row.connection_id,
    name: isNote ? (change.name ?? row.name) : null,
    domain: change.domain === undefined ? row.domain : change.domain,
    tags: change.tags ?? row.tags,
    description: change.description ?? row.description,
    fieldNotes: fields === undefined ? row.field_notes : isNote ? fields : fields.filter(({ description }) => description !== ''),
  };
}

function derived(param: string, hint?: string): Failure {
  const message = `${param}: cannot be changed, because the entry follows what it describes.`;
  return new Failure('INVALID_REQUEST', { param, message, ...(hint !== undefined && { hint }) });
}

/** Whether the change names another owner than there is. */
export function givesAway({ owner_id }: Pick<EntryRow, 'owner_id'>, { owner }: Pick<CatalogUpdate, 'owner'>): boolean {
  return owner !== undefined && (owner?.id ?? null) !== owner_id;
}

/** Throws CATALOG_LIMIT_EXCEEDED. */
export function requireRoomForEntry(written: number): void {
  if (written >= LIMITS.catalogEntriesMax) throw new Failure('CATALOG_LIMIT_EXCEEDED');
}

export function presentFacets(rows: readonly FacetRow[]): z.input<typeof catalogFacets> {
  const of = (facet: FacetRow['facet']) => rows.filter((row) => row.facet === facet).map(({ value, count }) => ({ value, count }));
  return { kinds: of('kind'), domains: of('domain'), tags: of('tag') };
}
