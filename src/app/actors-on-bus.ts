/** Actors leave memory when their artifact is gone, or was written behind their back. */
import type { ActorRuntime } from '../../actors/runtime/runtime.ts';
import type { ArtifactId } from '../../protocol/core/ids.ts';
import type { Bus } from '../platform/bus.ts';
import type { Sql } from '../storage/sql.ts';

const COMPARED_AT_ONCE = 1000;

export function actorsOnBus(bus: Bus, runtime: Pick<ActorRuntime, 'discard' | 'resident'>, sql: Sql): void {
  const discard = ({ artifactId }: { readonly artifactId: ArtifactId }) => runtime.discard(artifactId);
  bus.listen('actors', {
    'artifact.gone': discard,
    'artifact.replaced': discard,
    // One that was missed: what is replaced is new, and no actor can have been loaded before, so only those that are gone are looked for.
    resync: async () => {
      const resident = runtime.resident();
      for (let from = 0; from < resident.length; from += COMPARED_AT_ONCE) {
        const ids = resident.slice(from, from + COMPARED_AT_ONCE);
        const rows = await sql<{ id: ArtifactId }[]>`select id from artifact where id = any(${ids}::text[]) and deleted_at_ms is null`;
        const live = new Set(rows.map(({ id }) => id));
        for (const id of ids) if (!live.has(id)) void runtime.discard(id);
      }
    },
  });
}
