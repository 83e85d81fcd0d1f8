/** What is served under a slug: the live artifact that holds it and the files of its versions, read once and kept. */
import { LRUCache } from 'lru-cache';
import type { CommentSettings } from '../../actors/comment-rules.ts';
import type { ArtifactId, PreviewLinkId, VersionId } from '../../protocol/ids.ts';
import type { Visibility } from '../../protocol/schemas/artifact.ts';
import { slugSchema } from '../../protocol/schemas/common.ts';
import { ReadCache } from '../cache.ts';
import type { ArtifactNotices } from '../services/notices.ts';
import type { Sql } from '../storage/sql.ts';
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
  /** Of this artifact only. Kept here so that they are forgotten together with the site whenever the artifact changes. */
  readonly previewLinks: LRUCache<PreviewLinkId, PreviewLink>;
  /** What the comment overlay is told; null where pages are served without it. */
  readonly overlay: OverlayOptions | null;
  /** Pages with the tags that we add, by version and path; the file itself where the page stays as it is. */
  readonly taggedPages: LRUCache<string, ServedFile>;
}

/** A content with its media type. */
export interface ServedFile {
  /** Lowercase hex. */
  readonly sha256: string;
  readonly mime: string;
  /** For what is not in the object store: makes the bytes anew when they have left memory. */
  readonly make?: () => Promise<Buffer>;
}

export interface SiteFile extends ServedFile {
  /** NFC, relative, without dot segments. */
  readonly path: string;
  /** A part of the file name is the beginning of the digest, so that the path can never mean other bytes. */
  readonly digestInName: boolean;
}

export interface SiteVersion {
  readonly id: VersionId;
  readonly entrypoint: string;
  readonly files: ReadonlyMap<string, SiteFile>;
}

// A site is under 1 KB, a version up to 1000 files of some 200 bytes: at worst 55 MB together.
const SITES_MAX = 2000;
const VERSIONS_MAX = 256;
const PREVIEW_LINKS_MAX = 32;
// The entries of the live version and of those behind preview links, and with the overlay whatever pages are looked at. Their bytes are elsewhere.
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
  comment_config: Partial<CommentSettings> | null;
}

export class Sites {
  readonly #sql: Sql;
  readonly #bySlug: ReadCache<string, Site>;
  readonly #versions: ReadCache<VersionId, SiteVersion>;

  constructor(deps: { readonly sql: Sql; readonly notices: ArtifactNotices }) {
    this.#sql = deps.sql;
    this.#bySlug = new ReadCache({ entriesMax: SITES_MAX, load: (slug) => this.#readSite(slug) });
    this.#versions = new ReadCache({ entriesMax: VERSIONS_MAX, load: (id) => this.#readVersion(id) });
    deps.notices.on((notice) => {
      for (const slug of notice.slugs) this.#bySlug.invalidate(slug);
    });
  }

  /** The artifact that holds a slug (in lower case) and is not in the trash. */
  bySlug(slug: string): Site | null | Promise<Site | null> {
    return this.#bySlug.get(slug);
  }

  /** A version never changes, so that it is kept without being told. */
  version(id: VersionId): SiteVersion | null | Promise<SiteVersion | null> {
    return this.#versions.get(id);
  }

  /** A link of this site by its id; expired ones included. */
  previewLink(site: Site, id: PreviewLinkId): PreviewLink | null | Promise<PreviewLink | null> {
    return site.previewLinks.get(id) ?? this.#readPreviewLink(site, id);
  }

  /** A link of this site by the digest of its secret; expired ones included. */
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
    // A deletion meanwhile has dropped the site, and this memory with it.
    site.previewLinks.set(id, row);
    return row;
  }

  async #readSite(slug: string): Promise<Site | null> {
    // What no artifact can be called need not be asked for.
    if (!slugSchema.safeParse(slug).success) return null;
    const [row] = await this.#sql<SiteRow[]>`
      select a.id, a.slug, a.name, a.visibility, a.password_hash, a.social_title, a.social_description, a.social_image_url,
        a.live_version_id, c.config as comment_config
      from artifact a left join comment_config c on c.artifact_id = a.id
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
      previewLinks: new LRUCache({ max: PREVIEW_LINKS_MAX }),
      overlay: overlayOf(row.comment_config),
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

/** Source: 32 bits, which no name holds by chance. */
const DIGEST_CHARS_MIN = 8;

/** Whether `text` is the beginning of this digest, and long enough to mean it. */
export function isDigestOf(sha256: string, text: string): boolean {
  return text.length >= DIGEST_CHARS_MIN && sha256.startsWith(text);
}

function hasDigestInName(path: string, sha256: string): boolean {
  const name = path.slice(path.lastIndexOf('/') + 1);
  return name.split(/[.-]/).some((part) => isDigestOf(sha256, part));
}
