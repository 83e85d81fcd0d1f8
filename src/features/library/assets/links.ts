/** What is done with share links, by who may change the file. */
import type { z } from 'zod';
import { newId } from '../../../../protocol/core/ids.ts';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import type { shareLink } from '../../../../protocol/library/assets.ts';
import { networkOf } from '../../../edge/address.ts';
import { cutPage, decodeCursor } from '../../../edge/paging.ts';
import { dateTime } from '../../../platform/date-time.ts';
import type { PasswordHasher } from '../../people/sign-in/password-hasher.ts';
import { expiryOf } from '../../people/tokens/rules.ts';
import type { AssetCall, AssetDeps } from './files.ts';
import { camelPage, type Library, note, requireFewer, requireKeeper } from './library.ts';
import { countLinks, countOpenLinks, insertLink, type LinkRow, listLinks, revokeLink } from './link-rows.ts';
import { requireDeliverable } from './rows.ts';
import { digestOf, type ShareLinks } from './share-links.ts';

interface LinkDeps extends Pick<AssetDeps, 'sql'> {
  readonly shareLinks: ShareLinks;
  readonly hasher: PasswordHasher;
}

export function linkActions({ sql, shareLinks, hasher }: LinkDeps) {
  const present = async (row: LinkRow): Promise<z.input<typeof shareLink>> => ({
    id: row.id,
    url: await shareLinks.urlOf(row.id),
    gate: row.gate,
    domain: row.domain,
    expiresAt: timeOf(row.expiresAtMs),
    revokedAt: timeOf(row.revokedAtMs),
    views: row.views,
    createdAt: dateTime(row.createdAtMs),
  });
  return {
    async links(library: Library, { params, query }: AssetCall<'links'>) {
      const { id, createdBy } = await requireDeliverable(sql, library, params.fileId);
      requireKeeper(library, createdBy);
      const rows = await listLinks(sql, id, decodeCursor(query.cursor), query.limit + 1);
      const { items, page } = cutPage(rows, query.limit, (row) => ({ number: row.createdAtMs, id: row.id }));
      const total = query.count && { total: await countLinks(sql, id) };
      return { reply: 'ok', body: { links: await Promise.all(items.map(present)), ...camelPage(page), ...total } } as const;
    },
    async createLink(library: Library, call: AssetCall<'createLink'>) {
      const { params, body, nowMs, address } = call;
      const { gate, password, domain = null } = body;
      const expiresAtMs = expiryOf(body.expiresAt, nowMs, 'expiresAt');
      const id = newId('shareLink');
      // Before the transaction: both may wait, the one for its turn and the other for the database.
      const secretSha256 = digestOf(await shareLinks.secretOf(id));
      requireKeeper(library, (await requireDeliverable(sql, library, params.fileId)).createdBy);
      const passwordHash = password === undefined ? null : await hasher.hash(password, networkOf(address));
      const row = await sql.begin(async (tx) => {
        const file = await requireDeliverable(tx, library, params.fileId, true);
        requireKeeper(library, file.createdBy);
        requireFewer(await countOpenLinks(tx, file.id, nowMs), LIMITS.assetLinksMax, 'open links of a file');
        requireFewer(await countLinks(tx, file.id), LIMITS.assetLinksListedMax, 'links of a file, with those that have ended');
        const target = { type: 'file', id: file.id, name: file.name };
        const expires = timeOf(expiresAtMs);
        await note(tx, library, call, { action: 'asset_link.create', target, detail: { link_id: id, gate, domain, expires_at: expires } });
        return insertLink(tx, {
          ...{ id, deliverableId: file.id, secretSha256, gate, passwordHash, domain, expiresAtMs, nowMs },
          createdBy: library.creator,
        });
      });
      return { reply: 'created', body: await present(row) } as const;
    },
    async revokeLink(library: Library, call: AssetCall<'revokeLink'>) {
      const { params, nowMs } = call;
      await sql.begin(async (tx) => {
        const file = await requireDeliverable(tx, library, params.fileId);
        requireKeeper(library, file.createdBy);
        await revokeLink(tx, file.id, params.linkId, nowMs);
        const target = { type: 'file', id: file.id, name: file.name };
        await note(tx, library, call, { action: 'asset_link.revoke', target, detail: { link_id: params.linkId } });
      });
      return { reply: 'ok', body: { success: true } } as const;
    },
  };
}

function timeOf(atMs: number | null): string | null {
  return atMs === null ? null : dateTime(atMs);
}
