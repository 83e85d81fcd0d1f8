/** Files and collections as callers see them. */
import type { z } from 'zod';
import type { collection, deliverable, deliverableVersion, looseFile } from '../../../../protocol/library/assets.ts';
import { contentDigest } from '../../../edge/answer.ts';
import { dateTime } from '../../../platform/date-time.ts';
import type { CollectionRow } from './collection-rows.ts';
import type { DeliverableRow, FileRow, VersionRow } from './rows.ts';

interface Addresses {
  readonly baseUrl: string;
}

export function contentUrl({ baseUrl }: Addresses, id: string): string {
  return `${baseUrl}/v1/files/${id}/content`;
}

function thumbnailUrl({ baseUrl }: Addresses, { id, hasPicture }: { readonly id: string; readonly hasPicture: boolean }): string | null {
  return hasPicture ? `${baseUrl}/v1/files/${id}/thumbnail` : null;
}

export function presentDeliverable(config: Addresses, row: DeliverableRow): z.input<typeof deliverable> {
  const { id, name, mimeType, sizeBytes, versionNo, createdBy } = row;
  return {
    ...{ id, name, mimeType, sizeBytes, versionNo },
    contentUrl: contentUrl(config, id),
    thumbnailUrl: thumbnailUrl(config, row),
    createdBy,
    createdAt: dateTime(row.createdAtMs),
    updatedAt: dateTime(row.updatedAtMs),
  };
}

/** The picture arrives by itself and is no change of the deliverable. */
export function deliverableEtag({ id, updatedAtMs, hasPicture }: DeliverableRow): string {
  return `"${contentDigest(`${id} ${updatedAtMs}`)}.${hasPicture ? 1 : 0}"`;
}

export function presentLoose(config: Addresses, row: FileRow): z.input<typeof looseFile> {
  const { id, filename, mimeType, sizeBytes, createdBy } = row;
  const urls = { contentUrl: contentUrl(config, id), thumbnailUrl: thumbnailUrl(config, row) };
  return { id, filename, mimeType, sizeBytes, ...urls, createdBy, createdAt: dateTime(row.createdAtMs) };
}

export function presentVersion(config: Addresses, deliverableId: string, row: VersionRow): z.input<typeof deliverableVersion> {
  const { versionNo, filename, mimeType, sizeBytes, createdBy } = row;
  const url = `${contentUrl(config, deliverableId)}?version=${versionNo}`;
  return { versionNo, filename, mimeType, sizeBytes, contentUrl: url, createdBy, createdAt: dateTime(row.createdAtMs) };
}

export function presentCollection(row: CollectionRow): z.input<typeof collection> {
  const { id, name, itemCount, createdBy } = row;
  return { id, name, itemCount, createdBy, createdAt: dateTime(row.createdAtMs), updatedAt: dateTime(row.updatedAtMs) };
}
