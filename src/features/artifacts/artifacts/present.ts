/** An artifact as callers see it. */
import type { z } from 'zod';
import type { Principal } from '../../../../actors/access/access.ts';
import type { artifact } from '../../../../protocol/artifacts/artifacts.ts';
import { type Config, pageUrl } from '../../../platform/config.ts';
import { dateTime } from '../../../platform/date-time.ts';
import { folderRoleOf } from '../../workspaces/folders/rules.ts';
import { type ArtifactRow, RETENTION_MS } from './rows.ts';

type ArtifactReply = z.input<typeof artifact>;

/** The folder that an artifact is in; null also where the caller may not know of the folder. */
export function shownFolder({ folder }: Pick<ArtifactRow, 'folder'>, principal: Principal) {
  return folder !== null && folderRoleOf(folder, principal) !== null ? folder.id : null;
}

/** It names the version, so that whoever shows it sees the picture of a new version at once. */
function thumbnailUrl({ id, live_version_id, deleted_at_ms, thumbnail }: ArtifactRow, { baseUrl }: Pick<Config, 'baseUrl'>): string | null {
  if (thumbnail !== 'ready' || live_version_id === null || deleted_at_ms !== null) return null;
  return `${baseUrl}/v1/artifacts/${id}/thumbnail?version=${live_version_id}`;
}

export function presentArtifact(row: ArtifactRow, config: Pick<Config, 'baseUrl' | 'contentHost'>, principal: Principal): ArtifactReply {
  return {
    id: row.id,
    name: row.name,
    slug: row.slug,
    owner_id: row.owner_id,
    workspace_id: row.workspace_id,
    folder_id: shownFolder(row, principal),
    visibility: row.visibility,
    allow_anon_write: row.allow_anon_write,
    allow_anon_email: row.allow_anon_email,
    allow_anon_agent: row.allow_anon_agent,
    allow_anon_collab: row.allow_anon_collab,
    social_title: row.social_title,
    social_description: row.social_description,
    social_image_url: row.social_image_url,
    url: pageUrl(config, row.slug),
    thumbnail_url: thumbnailUrl(row, config),
    live_version_id: row.live_version_id,
    live_version_no: row.live_version_no,
    pinned_version_id: row.pinned_version_id,
    is_favorite: row.is_favorite,
    created_at: dateTime(row.created_at_ms),
    updated_at: dateTime(row.updated_at_ms),
    ...(row.deleted_at_ms === null
      ? {}
      : { deleted_at: dateTime(row.deleted_at_ms), recoverable_until: dateTime(row.deleted_at_ms + RETENTION_MS) }),
  };
}
