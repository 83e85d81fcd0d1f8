/** A workspace as its members see it. */
import type { z } from 'zod';
import type { workspace } from '../../../../protocol/workspaces/workspaces.ts';
import { dateTime } from '../../../platform/date-time.ts';
import type { ShownWorkspace } from './rows.ts';

export type WorkspaceReply = z.input<typeof workspace>;

export function presentWorkspace(row: ShownWorkspace): WorkspaceReply {
  return {
    id: row.id,
    slug: row.slug,
    name: row.name,
    description: row.description,
    locale: row.locale,
    owner_id: row.owner_id,
    role: row.role,
    member_count: row.member_count,
    branding: { accent_color: row.accent_color, hide_footer: row.hide_footer, logo: row.logo },
    plan: { tier: row.plan_tier, status: row.plan_status },
    created_at: dateTime(row.created_at_ms),
    updated_at: dateTime(row.updated_at_ms),
  };
}
