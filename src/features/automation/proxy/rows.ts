/** The SQL of `proxy_config`. */
import type { ArtifactId } from '../../../../protocol/core/ids.ts';
import type { Queries } from '../../deps.ts';

export interface ProxySettings {
  /** Null for any host. */
  readonly hosts: readonly string[] | null;
  readonly cacheS: number;
}

export async function readProxySettings(sql: Queries, artifactId: ArtifactId): Promise<ProxySettings | null> {
  const [row] = await sql<ProxySettings[]>`select hosts, cache_s as "cacheS" from proxy_config where artifact_id = ${artifactId}`;
  return row ?? null;
}

export async function writeProxySettings(
  tx: Queries,
  artifactId: ArtifactId,
  { hosts, cacheS }: ProxySettings,
  nowMs: number,
): Promise<void> {
  await tx`
    insert into proxy_config (artifact_id, hosts, cache_s, updated_at_ms)
    values (${artifactId}, ${hosts as string[] | null}, ${cacheS}, ${nowMs})
    on conflict (artifact_id) do update set hosts = excluded.hosts, cache_s = excluded.cache_s, updated_at_ms = excluded.updated_at_ms`;
}
