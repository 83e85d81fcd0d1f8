/** What becomes one delivery, and its body, decided without I/O. */
import type { WebhookEvent } from '../../../../protocol/automation/webhooks.ts';
import type { ArtifactId, DeliveryId, VersionId, WebhookId, WorkspaceId } from '../../../../protocol/core/ids.ts';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import type { ChangeType } from '../../../../protocol/data/changes.ts';
import { dateTime } from '../../../platform/date-time.ts';
import type { ChangeEvent } from '../../data/changes/events.ts';

/** What is told, before it has an id and a number. */
export interface Draft {
  readonly event: WebhookEvent;
  /** JSON text. */
  readonly data: string;
  /** Changes up to this seq are told with it. */
  readonly toSeq: number;
}

/** A change that was read, with what tells a new comment from an old one. */
export interface ReadChange extends ChangeEvent {
  readonly kind: string;
  readonly createdAtMs: number | undefined;
}

const EVENT_OF_TYPE = {
  json: 'data.changed',
  tables: 'data.changed',
  blobs: 'data.changed',
  documents: 'document.changed',
} as const satisfies Record<Exclude<ChangeType, 'comments'>, WebhookEvent>;

/** What the envelope takes of a body. */
const ENVELOPE_BYTES = 1024;
const CHANGES_BYTES_MAX = LIMITS.webhookBodyBytesMax - ENVELOPE_BYTES;

/** The live kinds that have to be read for these events. */
export function typesFor(events: readonly WebhookEvent[]): readonly ChangeType[] {
  const data = events.includes('data.changed') ? (['json', 'tables', 'blobs'] as const) : [];
  const documents = events.includes('document.changed') ? (['documents'] as const) : [];
  const comments = events.some((event) => event.startsWith('comment.')) ? (['comments'] as const) : [];
  return [...data, ...comments, ...documents];
}

/**
 * The deliveries of these changes, in order of seq. Changes that follow each other and are told by the same event share one, up to the limits of
 * number and size; a comment has its own. `seenBeforeMs`: a comment made since then was not told as added yet.
 */
export function draftsOf(changes: readonly ReadChange[], events: readonly WebhookEvent[], seenBeforeMs: number): Draft[] {
  const drafts: Draft[] = [];
  let group: { readonly event: WebhookEvent; readonly changes: ReadChange[]; bytes: number } | undefined;
  const close = () => {
    if (group !== undefined) drafts.push(gathered(group.event, group.changes));
    group = undefined;
  };
  for (const change of changes) {
    const event = eventOf(change, seenBeforeMs);
    if (!events.includes(event)) continue;
    const bytes = Buffer.byteLength(change.json) + 1;
    if (change.type === 'comments') {
      close();
      drafts.push({ event, data: change.json, toSeq: change.seq });
      continue;
    }
    const fits = group?.event === event && group.changes.length < LIMITS.webhookChangesMax && group.bytes + bytes <= CHANGES_BYTES_MAX;
    if (!fits) close();
    group ??= { event, changes: [], bytes: 0 };
    group.changes.push(change);
    group.bytes += bytes;
  }
  close();
  return drafts;
}

function eventOf({ type, kind, createdAtMs }: ReadChange, seenBeforeMs: number): WebhookEvent {
  if (type !== 'comments') return EVENT_OF_TYPE[type];
  if (kind === 'comment:deleted') return 'comment.deleted';
  // One that was changed right after it was made is stored as changed only.
  return kind === 'comment:added' || (createdAtMs !== undefined && createdAtMs >= seenBeforeMs) ? 'comment.added' : 'comment.updated';
}

function gathered(event: WebhookEvent, changes: readonly ReadChange[]): Draft {
  const toSeq = changes.at(-1)?.seq ?? 0;
  const data = `{"from_seq":${changes[0]?.seq ?? 0},"to_seq":${toSeq},"changes":[${changes.map(({ json }) => json).join(',')}]}`;
  return { event, data, toSeq };
}

/** Deletions since the last delivery are no longer known: the receiver reads everything again. */
export function resetDrafts(events: readonly WebhookEvent[], toSeq: number): Draft[] {
  const meant = (['data.changed', 'document.changed'] as const).filter((event) => events.includes(event));
  return meant.map((event) => ({ event, data: `{"reset":true,"to_seq":${toSeq},"changes":[]}`, toSeq }));
}

export interface ArtifactState {
  readonly id: ArtifactId;
  readonly name: string;
  readonly slug: string;
  readonly visibility: string;
  readonly workspaceId: WorkspaceId | null;
  readonly updatedAtMs: number;
  readonly isDeleted: boolean;
  readonly seq: number;
  readonly versionId: VersionId | null;
  readonly versionNo: number | null;
  readonly versionLabel: string | null;
}

export interface SeenState {
  readonly updatedAtMs: number;
  readonly versionId: VersionId | null;
  readonly isDeleted: boolean;
}

/** What happened to the artifact itself between two looks. */
export function stateDrafts(seen: SeenState, now: ArtifactState, events: readonly WebhookEvent[]): Draft[] {
  const happened: WebhookEvent[] = [];
  if (seen.isDeleted && !now.isDeleted) happened.push('artifact.restored');
  if (now.versionId !== null && now.versionId !== seen.versionId) happened.push('version.published');
  else if (now.updatedAtMs !== seen.updatedAtMs && now.isDeleted === seen.isDeleted) happened.push('artifact.updated');
  if (!seen.isDeleted && now.isDeleted) happened.push('artifact.deleted');
  const data = JSON.stringify({
    artifact: {
      id: now.id,
      name: now.name,
      slug: now.slug,
      visibility: now.visibility,
      workspace_id: now.workspaceId,
      updated_at: dateTime(now.updatedAtMs),
    },
    version: now.versionId === null ? null : { id: now.versionId, version_no: now.versionNo, label: now.versionLabel },
  });
  return happened.filter((event) => events.includes(event)).map((event) => ({ event, data, toSeq: 0 }));
}

export interface Envelope {
  readonly id: DeliveryId;
  readonly number: number;
  readonly event: WebhookEvent | 'webhook.test';
  readonly atMs: number;
  readonly webhookId: WebhookId;
  readonly artifactId: ArtifactId | null;
  readonly workspaceId: WorkspaceId | null;
  /** JSON text. */
  readonly data: string;
}

/** The body of a delivery, as it is sent and signed on every try. Data that is too long is named only. */
export function bodyOf({ id, number, event, atMs, webhookId, artifactId, workspaceId, data }: Envelope): string {
  const head = JSON.stringify({
    id,
    number,
    type: event,
    created_at: dateTime(atMs),
    webhook_id: webhookId,
    artifact_id: artifactId,
    workspace_id: workspaceId,
  });
  const fits = Buffer.byteLength(data) <= CHANGES_BYTES_MAX;
  return `${head.slice(0, -1)},"data":${fits ? data : '{"truncated":true}'}}`;
}
