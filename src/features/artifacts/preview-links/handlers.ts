/** The endpoints of preview links: each shows one version, draft or private, to anybody who has it. src/content/server.ts looks them up. */
import { createHash, randomBytes } from 'node:crypto';
import { Failure } from '../../../../protocol/core/errors.ts';
import { newId } from '../../../../protocol/core/ids.ts';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import type { Handlers } from '../../../edge/call.ts';
import { cutPage, decodeCursor } from '../../../edge/paging.ts';
import { type Config, pageUrl } from '../../../platform/config.ts';
import { dateTime } from '../../../platform/date-time.ts';
import type { ServiceDeps } from '../../deps.ts';
import { userOrNull } from '../../people/accounts/rules.ts';
import { lockArtifact } from '../artifacts/rows.ts';
import { mayReview, requireReviewer } from '../reviews/rules.ts';
import { lockVersion } from '../versions/rows.ts';
import { sightOf } from '../versions/rules.ts';
import { countLinks, deleteExpired, deleteLink, insertLink, type LinkRow, listLinks } from './rows.ts';

type Deps = Pick<ServiceDeps, 'sql' | 'bus'> & { readonly config: Pick<Config, 'baseUrl' | 'contentHost'> };

const SECRET_BYTES = 32;

export function previewLinkHandlers(deps: Deps): Handlers<'previewLinks.list' | 'previewLinks.create' | 'previewLinks.delete'> {
  const { sql, config, bus } = deps;
  return {
    'previewLinks.list': async ({ params, query, nowMs }) => {
      const rows = await listLinks(sql, params.id, nowMs, decodeCursor(query.cursor), query.limit + 1);
      const { items, page } = cutPage(rows, query.limit, (row) => ({ number: row.createdAtMs, id: row.id }));
      const total = query.count ? { total: await countLinks(sql, params.id, nowMs) } : {};
      return { reply: 'ok', body: { links: items.map(present), ...page, ...total } };
    },
    'previewLinks.create': async (call) => {
      const { params, body, head, principal, role, nowMs } = call;
      const id = newId('previewLink');
      const secret = randomBytes(SECRET_BYTES).toString('base64url');
      const expiresAtMs = nowMs + body.expires_in * 1000;
      await sql.begin(async (tx) => {
        // Locked, so that links that come together cannot exceed the maximum.
        await lockArtifact(tx, params.id, []);
        const version = await lockVersion(tx, params.id, body.version_id, sightOf(call));
        // Its author sees a version that waits; whom else it is shown to is up to those who approve it.
        if (version.waiting_since_ms !== null) requireReviewer(mayReview(head, principal, role));
        await deleteExpired(tx, params.id, nowMs);
        requireFewLinks(await countLinks(tx, params.id, nowMs));
        await insertLink(tx, {
          id,
          artifactId: params.id,
          versionId: version.id,
          // Only the digest is stored, as for tokens: nobody who reads the database can use the link.
          secretSha256: createHash('sha256').update(secret).digest(),
          createdBy: userOrNull(principal),
          createdAtMs: nowMs,
          expiresAtMs,
        });
      });
      const url = `${pageUrl(config, head.slug)}/?_preview=${secret}`;
      return { reply: 'created', body: { id, url, expires_at: dateTime(expiresAtMs) } };
    },
    'previewLinks.delete': async ({ params, head }) => {
      if (!(await deleteLink(sql, params.id, params.link))) throw new Failure('PREVIEW_LINK_NOT_FOUND');
      // Visitors who used the link hold a signed cookie: this makes the content origin drop its cached link and refuse them.
      bus.tell({ artifactId: params.id, slugs: [head.slug], kind: 'artifact.changed' });
      return { reply: 'ok', body: { success: true } };
    },
  };
}

/** Throws ACCOUNT_STORAGE_FULL. */
function requireFewLinks(links: number): void {
  if (links < LIMITS.previewLinksMax) return;
  throw new Failure('ACCOUNT_STORAGE_FULL', {
    message: `An artifact may have ${LIMITS.previewLinksMax} preview links that have not expired, and this one has as many.`,
    hint: 'Delete some of them: GET /v1/artifacts/{id}/preview-links lists them.',
  });
}

function present({ id, versionId, expiresAtMs, createdAtMs }: LinkRow) {
  return { id, version_id: versionId, expires_at: dateTime(expiresAtMs), created_at: dateTime(createdAtMs) };
}
