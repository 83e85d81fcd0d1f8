/** Cached sites: the live artifact of a slug and the files of its versions. */
import { LRUCache } from 'lru-cache';
import type { CommentSettings } from '../../actors/comments/comment-rules.ts';
import type { Visibility } from '../../protocol/artifacts/artifacts.ts';
import { slugSchema } from '../../protocol/core/fields.ts';
import type { ArtifactId, PreviewLinkId, UserId, VersionId, WorkspaceId } from '../../protocol/core/ids.ts';
import { type Bus, onArtifact } from '../platform/bus.ts';
import { ReadCache } from '../platform/cache.ts';
import type { Sql } from '../storage/sql.ts';
import { type ChatOptions, chatOf } from './chat-box.ts';
import { type OverlayOptions, overlayOf } from './overlay.ts';

export interface PreviewLink {
  readonly id: PreviewLinkId;
  readonly versionId: VersionId;
  /** Unix ms. */
  readonly expiresAtMs: number;
}

export interface SocialFields {
  readonly title: string | null;
  readonly description: string | null;
  readonly imageUrl: string | null;
}

export interface Site {
  readonly artifactId: ArtifactId;
  readonly slug: string;
  readonly name: string;
  readonly visibility: Visibility;
  readonly passwordHash: string | null;
  readonly social: SocialFields;
  readonly liveVersionId: VersionId | null;
  /** Whoever may see it is told that it is suspended. */
  readonly isSuspended: boolean;
  /** Versions of this artifact. They are cached here, so that a change of the artifact drops them together with the site. */
  readonly previewLinks: LRUCache<PreviewLinkId, PreviewLink>;
  /** Whose folder the artifact is in; both null where it is in none. */
  readonly folder: { readonly workspaceId: WorkspaceId | null; readonly ownerId: UserId | null };
  /** The settings of the comment overlay; null where pages have none. */
  readonly overlay: OverlayOptions | null;
  /** The settings of the chat box; null where pages have none. */
  readonly chat: ChatOptions | null;
  /** Pages with added tags, by version and path; the file itself where nothing is added. */
  readonly taggedPages: LRUCache<string, ServedFile>;
}

/** A file's bytes with their media type. */
export interface ServedFile {
  /** Lowercase hex. */
  readonly sha256: string;
  readonly mime: string;
  /** Makes the bytes again after they have left memory, where they are not in the object store. */
  readonly make?: () => Promise<Buffer>;
}

export interface SiteFile extends ServedFile {
  /** NFC, relative, without dot segments. */
  readonly path: string;
  /** A part of the file name is a prefix of the digest, so the path never refers to other bytes. */
  readonly digestInName: boolean;
}

export interface SiteVersion {
  readonly id: VersionId;
  readonly entrypoint: string;
  readonly files: ReadonlyMap<string, SiteFile>;
}

// A site takes under 1 KB, a version up to 1000 entries of some 200 bytes: at most 55 MB together.
const SITES_MAX = 2000;
const VERSIONS_MAX = 256;
const PREVIEW_LINKS_MAX = 32;
// Entry pages of the live version and of previews, and with the overlay or the chat every visited page. Their bytes are cached elsewhere.
const TAGGED_PAGES_MAX = 64;

interface SiteRow {
  id: ArtifactId;
  slug: string;
  name: string;
  visibility: Visibility;
  password_hash: string | null;
  social_title: string | null;
  social_description: string | null;
  social_image_url: string | null;
  live_version_id: VersionId | null;
  is_suspended: boolean;
  comment_config: Partial<CommentSettings> | null;
  chat_enabled: boolean | null;
  chat_greeting: string | null;
  folder_workspace_id: WorkspaceId | null;
  folder_owner_id: UserId | null;
  folder_guests: boolean | null;
}

export class Sites {
  readonly #sql: Sql;
  readonly #bySlug: ReadCache<string, Site>;
  readonly #versions: ReadCache<VersionId, SiteVersion>;

  constructor(deps: { readonly sql: Sql; readonly bus: Bus }) {
    this.#sql = deps.sql;
    this.#bySlug = new ReadCache({ entriesMax: SITES_MAX, load: (slug) => this.#readSite(slug) });
    this.#versions = new ReadCache({ entriesMax: VERSIONS_MAX, load: (id) => this.#readVersion(id) });
    deps.bus.cache('sites', {
      everything: () => this.#bySlug.clear(),
      ...onArtifact(({ slugs }) => {
        for (const slug of slugs) this.#bySlug.invalidate(slug);
      }),
      // The comment settings follow the folder.
      'folder.changed': ({ workspaceId, ownerId }) =>
        this.#bySlug.invalidateWhere(({ folder }) =>
          workspaceId === null ? folder.ownerId !== null && folder.ownerId === ownerId : folder.workspaceId === workspaceId,
        ),
    });
  }

  /** The artifact with this slug (in lowercase) that is not in the trash. */
  bySlug(slug: string): Site | null | Promise<Site | null> {
    return this.#bySlug.get(slug);
  }

  /** A version never changes, so its cache entry needs no invalidation. */
  version(id: VersionId): SiteVersion | null | Promise<SiteVersion | null> {
    return this.#versions.get(id);
  }

  /** A preview link of this site by its id, including expired ones. */
  previewLink(site: Site, id: PreviewLinkId): PreviewLink | null | Promise<PreviewLink | null> {
    return site.previewLinks.get(id) ?? this.#readPreviewLink(site, id);
  }

  /** A preview link of this site by the digest of its secret, including expired ones. */
  async previewLinkBySecret(site: Site, secretSha256: Buffer): Promise<PreviewLink | null> {
    const [row] = await this.#sql<PreviewLink[]>`
      select id, version_id as "versionId", expires_at_ms as "expiresAtMs"
      from preview_link where secret_sha256 = ${secretSha256} and artifact_id = ${site.artifactId}`;
    return row ?? null;
  }

  async #readPreviewLink(site: Site, id: PreviewLinkId): Promise<PreviewLink | null> {
    const [row] = await this.#sql<PreviewLink[]>`
      select id, version_id as "versionId", expires_at_ms as "expiresAtMs"
      from preview_link where id = ${id} and artifact_id = ${site.artifactId}`;
    if (!row) return null;
    // A deletion meanwhile has dropped the site together with this cache.
    site.previewLinks.set(id, row);
    return row;
  }

  async #readSite(slug: string): Promise<Site | null> {
    // No artifact can have such a slug, so no query is needed.
    if (!slugSchema.safeParse(slug).success) return null;
    const [row] = await this.#sql<SiteRow[]>`
      select a.id, a.slug, a.name, a.visibility, a.password_hash, a.social_title, a.social_description, a.social_image_url,
        a.live_version_id,
        a.suspended_at_ms is not null
          or exists (select from workspace w where w.id = a.workspace_id and w.suspended_at_ms is not null) as is_suspended,
        c.config as comment_config, p.is_enabled as chat_enabled, p.greeting as chat_greeting, f.workspace_id as folder_workspace_id, f.owner_id as folder_owner_id,
        case when f.id is not null then folder_guests(f.id) end as folder_guests
      from artifact a left join comment_config c on c.artifact_id = a.id left join page_chat p on p.artifact_id = a.id
        left join folder f on f.id = a.folder_id
      where a.slug = ${slug} and a.deleted_at_ms is null`;
    if (!row) return null;
    return {
      artifactId: row.id,
      slug: row.slug,
      name: row.name,
      visibility: row.visibility,
      passwordHash: row.password_hash,
      social: { title: row.social_title, description: row.social_description, imageUrl: row.social_image_url },
      liveVersionId: row.live_version_id,
      isSuspended: row.is_suspended,
      previewLinks: new LRUCache({ max: PREVIEW_LINKS_MAX }),
      folder: { workspaceId: row.folder_workspace_id, ownerId: row.folder_owner_id },
      overlay: overlayOf(row.comment_config, row.folder_guests ?? false),
      chat: chatOf(row.chat_enabled, row.chat_greeting),
      taggedPages: new LRUCache({ max: TAGGED_PAGES_MAX }),
    };
  }

  async #readVersion(id: VersionId): Promise<SiteVersion | null> {
    const [version] = await this.#sql<{ entrypoint: string }[]>`select entrypoint from artifact_version where id = ${id}`;
    if (!version) return null;
    const rows = await this.#sql<{ path: string; sha256: string; mime: string }[]>`
      select path, encode(sha256, 'hex') as sha256, mime from version_file where version_id = ${id}`;
    return {
      id,
      entrypoint: version.entrypoint,
      files: new Map(rows.map(({ path, sha256, mime }) => [path, { path, sha256, mime, digestInName: hasDigestInName(path, sha256) }])),
    };
  }
}

/** 32 bits, which a file name does not contain by chance. */
const DIGEST_CHARS_MIN = 8;

/** Whether `text` is a prefix of this digest that is too long to be one by chance. */
export function isDigestOf(sha256: string, text: string): boolean {
  return text.length >= DIGEST_CHARS_MIN && sha256.startsWith(text);
}

function hasDigestInName(path: string, sha256: string): boolean {
  const name = path.slice(path.lastIndexOf('/') + 1);
  return name.split(/[.-]/).some((part) => isDigestOf(sha256, part));
}
