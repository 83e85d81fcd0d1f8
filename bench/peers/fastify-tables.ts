/** Tables of the Fastify peer: rows as JSON in one Postgres table, one statement per call. */
import { randomBytes } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type postgres from 'postgres';

interface Params {
  readonly artifactId: string;
  readonly table: string;
}

/** Only the query of the bench, as a developer writes the query that a page needs. */
interface QueryBody {
  readonly filter: { readonly status: string; readonly score: { readonly $gte: number } };
  readonly limit: number;
}

interface Row {
  readonly row_id: string;
  readonly data: object;
  readonly created_at_ms: number;
  readonly updated_at_ms: number;
}

type Admit = (request: FastifyRequest<{ Params: Params }>, reply: FastifyReply) => Promise<void>;

const params = {
  type: 'object',
  properties: {
    artifactId: { type: 'string', pattern: '^art_[a-z0-9]{24}$' },
    table: { type: 'string', pattern: '^[a-zA-Z][a-zA-Z0-9_]{0,63}$' },
  },
};
const answer = { '2xx': { type: 'object', additionalProperties: true } };
const query = {
  type: 'object',
  required: ['filter', 'limit'],
  properties: {
    filter: {
      type: 'object',
      required: ['status', 'score'],
      properties: { status: { type: 'string' }, score: { type: 'object', required: ['$gte'], properties: { $gte: { type: 'number' } } } },
    },
    sort: { type: 'string', const: '-score' },
    limit: { type: 'integer', minimum: 1, maximum: 1000 },
  },
};

export async function serveTables(app: FastifyInstance, sql: postgres.Sql, admit: Admit): Promise<void> {
  await sql`create sequence if not exists peer_row_seq`;

  app.post<{ Params: Params; Body: object }>(
    '/v1/data/:artifactId/tables/:table',
    { schema: { params, body: { type: 'object' }, response: answer } },
    async (request, reply) => {
      await admit(request, reply);
      const nowMs = Date.now();
      const [row] = await sql<[Row]>`
        insert into table_row (artifact_id, table_name, row_id, data, created_seq, seq, created_at_ms, updated_at_ms)
        select ${request.params.artifactId}, ${request.params.table}, ${`row_${randomBytes(12).toString('hex')}`},
          ${JSON.stringify(request.body)}::text::jsonb, n, n, ${nowMs}, ${nowMs} from nextval('peer_row_seq') n
        returning row_id, data, created_at_ms, updated_at_ms`;
      reply.code(201);
      return { success: true, data: { inserted: [shown(row)], count: 1 } };
    },
  );

  app.post<{ Params: Params; Body: QueryBody }>(
    '/v1/data/:artifactId/tables/:table/query',
    { schema: { params, body: query, response: answer } },
    async (request, reply) => {
      await admit(request, reply);
      const { filter, limit } = request.body;
      const rows = await sql<Row[]>`
        select row_id, data, created_at_ms, updated_at_ms from table_row
        where artifact_id = ${request.params.artifactId} and table_name = ${request.params.table}
          and data->>'status' = ${filter.status} and (data->>'score')::float8 >= ${filter.score.$gte}
        order by (data->>'score')::float8 desc limit ${limit + 1}`;
      return { success: true, data: { rows: rows.slice(0, limit).map(shown), hasMore: rows.length > limit, nextCursor: null } };
    },
  );
}

function shown(row: Row): object {
  const { row_id: id, data, created_at_ms: createdAtMs, updated_at_ms: updatedAtMs } = row;
  return { id, ...data, createdAt: new Date(createdAtMs).toISOString(), updatedAt: new Date(updatedAtMs).toISOString() };
}
