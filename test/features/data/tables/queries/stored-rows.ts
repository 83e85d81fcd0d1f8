/** Stores tables by SQL, so that tests of reads do not depend on the code that writes. */
import { indexedValues } from '../../../../../actors/tables/row-fields.ts';
import { newId } from '../../../../../protocol/core/ids.ts';
import { tableSchema } from '../../../../../protocol/data/tables.ts';
import type { TableScope } from '../../../../../src/features/data/tables/queries/filter-sql.ts';
import type { Row } from '../../../../../src/features/data/tables/queries/plain-rows.ts';
import { kindOf } from '../../../../../src/storage/live/tables/columns.ts';
import type { Sql } from '../../../../../src/storage/sql.ts';

export const CREATED_AT_MS = Date.UTC(2026, 0, 31, 12);

export interface Stored {
  readonly scope: TableScope;
  /** In insertion order, with id and times as a read returns them. */
  readonly rows: readonly (Row & { readonly id: string })[];
}

interface Place {
  readonly scope: TableScope;
  readonly firstSeq: number;
}

/** Stores rows in a table of a new artifact, or at `place`. Row n is created at `CREATED_AT_MS + n` as change n + 1. */
export async function storeRows(sql: Sql, fields: readonly Row[], columns: unknown[] | null = null, place?: Place): Promise<Stored> {
  const schema = columns === null ? null : tableSchema.parse({ columns });
  const scope = place?.scope ?? { artifactId: newId('artifact'), table: 'things', schema };
  const firstSeq = place?.firstSeq ?? 1;
  const ids = fields.map(() => newId('row'));
  const firstMs = CREATED_AT_MS + firstSeq - 1;
  await sql`
    insert into table_row (artifact_id, table_name, row_id, data, created_seq, seq, created_at_ms, updated_at_ms)
    select ${scope.artifactId}, ${scope.table}, u.id, u.data::jsonb, ${firstSeq} + u.n - 1, ${firstSeq} + u.n - 1, ${firstMs} + u.n - 1, ${firstMs} + u.n
    from unnest(${ids}::text[], ${fields.map((row) => JSON.stringify(row))}::text[]) with ordinality as u (id, data, n)`;
  await storeIndex(sql, scope, firstSeq, fields, ids);
  const iso = (ms: number) => new Date(ms).toISOString();
  const rows = fields.map((own, at) => ({ id: ids[at] ?? '', ...own, createdAt: iso(firstMs + at), updatedAt: iso(firstMs + at + 1) }));
  return { scope, rows };
}

async function storeIndex(sql: Sql, scope: TableScope, firstSeq: number, fields: readonly Row[], ids: readonly string[]): Promise<void> {
  const entries = fields.flatMap((row, at) =>
    indexedValues(scope.schema, row).map(([column, value]) => ({ id: ids[at] ?? '', seq: firstSeq + at, column, value })),
  );
  const kinds = entries.map(({ value }) => kindOf(value));
  const numbers = entries.map(({ value }) => (typeof value === 'number' ? value : null));
  const texts = entries.map(({ value }) => (typeof value === 'number' || value === null ? null : String(value)));
  await sql`
    insert into row_index (artifact_id, table_name, column_name, kind, num, txt, row_id, created_seq)
    select ${scope.artifactId}, ${scope.table}, u.col, u.kind::"char", u.num, u.txt, u.id, u.seq
    from unnest(
      ${entries.map(({ column }) => column)}::text[], ${kinds}::text[], ${numbers}::double precision[], ${texts}::text[],
      ${entries.map(({ id }) => id)}::text[], ${entries.map(({ seq }) => seq)}::bigint[]
    ) as u (col, kind, num, txt, id, seq)`;
}
