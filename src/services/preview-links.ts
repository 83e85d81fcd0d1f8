/** Links that show one version, draft or private, to whoever has them. The content origin looks them up; see src/content/server.ts. */
import { createHash, randomBytes } from 'node:crypto';
import { Failure } from '../../protocol/errors.ts';
import { type ArtifactId, newId, type PreviewLinkId, type UserId, type VersionId } from '../../protocol/ids.ts';
import { type Config, pageUrl } from '../config.ts';
import type { Handlers } from '../edge/call.ts';
import { dateTime } from './artifact-rows.ts';
import { requireHead } from './artifacts.ts';
import type { Queries, ServiceDeps } from './deps.ts';
import { userOrNull } from './principals.ts';
import { requireVersion } from './version-rows.ts';

type Deps = Pick<ServiceDeps, 'sql' | 'notices'> & { readonly config: Pick<Config, 'baseUrl' | 'contentHost'> };

const SECRET_BYTES = 32;

export function previewLinkHandlers(deps: Deps): Handlers<'previewLinks.create' | 'previewLinks.delete'> {
  const { sql, config, notices } = deps;
  return {
    'previewLinks.create': async ({ params, body, head, principal, nowMs }) => {
      const version = await requireVersion(sql, params.id, body.version_id, true);
      const id = newId('previewLink');
      const secret = randomBytes(SECRET_BYTES).toString('base64url');
      const expiresAtMs = nowMs + body.expires_in * 1000;
      await deleteExpired(sql, params.id, nowMs);
      await insertLink(sql, {
        id,
        artifactId: params.id,
        versionId: version.id,
        // Like a token: whoever reads the database cannot open what the link opens.
        secretSha256: createHash('sha256').update(secret).digest(),
        createdBy: userOrNull(principal),
        nowMs,
        expiresAtMs,
      });
      const url = `${pageUrl(config, requireHead(head).slug)}/?_preview=${secret}`;
      return { reply: 'created', body: { id, url, expires_at: dateTime(expiresAtMs) } };
    },
    'previewLinks.delete': async ({ params, head }) => {
      if (!(await deleteLink(sql, params.id, params.link))) throw new Failure('PREVIEW_LINK_NOT_FOUND');
      // Who has entered by it holds a signed cookie; the content origin forgets the link now and looks it up again.
      notices.emit({ artifactId: params.id, slugs: [requireHead(head).slug], kind: 'changed' });
      return { reply: 'ok', body: { success: true } };
    },
  };
}

interface NewLink {
  readonly id: PreviewLinkId;
  readonly artifactId: ArtifactId;
  readonly versionId: VersionId;
  readonly secretSha256: Buffer;
  readonly createdBy: UserId | null;
  readonly nowMs: number;
  readonly expiresAtMs: number;
}

async function insertLink(sql: Queries, link: NewLink): Promise<void> {
  await sql`
    insert into preview_link (id, artifact_id, version_id, secret_sha256, created_by, created_at_ms, expires_at_ms)
    values (${link.id}, ${link.artifactId}, ${link.versionId}, ${link.secretSha256}, ${link.createdBy}, ${link.nowMs}, ${link.expiresAtMs})`;
}

async function deleteExpired(sql: Queries, artifactId: ArtifactId, nowMs: number): Promise<void> {
  await sql`delete from preview_link where artifact_id = ${artifactId} and expires_at_ms <= ${nowMs}`;
}

async function deleteLink(sql: Queries, artifactId: ArtifactId, id: PreviewLinkId): Promise<boolean> {
  const rows = await sql`delete from preview_link where id = ${id} and artifact_id = ${artifactId} returning id`;
  return rows.length > 0;
}
