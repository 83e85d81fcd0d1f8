/** The SQL of `page_chat`. */
import type { ArtifactId } from '../../../../protocol/core/ids.ts';
import type { Queries } from '../../deps.ts';

export interface PageChatSettings {
  readonly enabled: boolean;
  readonly greeting: string;
}

export async function readPageChat(sql: Queries, artifactId: ArtifactId): Promise<PageChatSettings> {
  const [row] = await sql<PageChatSettings[]>`select is_enabled as enabled, greeting from page_chat where artifact_id = ${artifactId}`;
  return row ?? { enabled: false, greeting: '' };
}

export async function writePageChat(
  tx: Queries,
  artifactId: ArtifactId,
  { enabled, greeting }: PageChatSettings,
  nowMs: number,
): Promise<void> {
  await tx`
    insert into page_chat (artifact_id, is_enabled, greeting, updated_at_ms) values (${artifactId}, ${enabled}, ${greeting}, ${nowMs})
    on conflict (artifact_id) do update set is_enabled = excluded.is_enabled, greeting = excluded.greeting,
      updated_at_ms = excluded.updated_at_ms`;
}
