/** A dropped table stays dropped when the process dies, and the next start removes its rows. */
import postgres from 'postgres';
import { expect, test } from 'vitest';
import { createServerDatabase, temporaryDir } from '../support/database.ts';
import { type Program, startProgram } from '../support/program.ts';
import { describeWith } from '../support/services.ts';
import { publishTargets, type Target } from '../support/writers.ts';

const ROWS = 2500;

describeWith('postgresUrl')('a dropped table', () => {
  test('stays dropped after kill -9, and the next start removes its rows', async () => {
    const database = await createServerDatabase();
    const folder = temporaryDir();
    const settings = { DATA_DIR: folder.path, DATABASE_URL: database.url };
    const sql = postgres(database.url, { max: 2, onnotice: () => undefined });
    try {
      const first = await startProgram(settings);
      const [target] = await publishTargets(first, 1);
      if (target === undefined) throw new Error('nothing was published');
      const lines = Array.from({ length: ROWS }, (_, n) => JSON.stringify({ n })).join('\n');
      expect(await call(first, target, 'POST', '/t/import', lines)).toMatchObject({ inserted: ROWS });
      await sql.begin(async (tx) => {
        // The purge cannot delete rows before the process is dead.
        await tx`lock table table_row in share mode`;
        expect(await call(first, target, 'DELETE', '/t?confirm=true')).toEqual({ dropped: true, deleted: ROWS });
        await first.end('SIGKILL');
      });
      const [{ left } = { left: 0 }] = await sql`select count(*)::int as left from table_row where artifact_id = ${target.artifactId}`;
      expect(left).toBeGreaterThan(0);
      // It may have died in the middle of its own sweep, behind the step that removes dropped tables.
      const { count: claims } = await sql`
        update house_job set done_ms = due_ms - 1, steps_done = '{droppedTables}', lease_ends_at = clock_timestamp() + interval '1 hour'`;
      expect(claims).toBe(1);

      const second = await startProgram(settings);
      expect(await call(second, target, 'GET', '')).toEqual({ tables: [] });
      await call(second, target, 'POST', '/t', JSON.stringify({ n: -1 }));
      expect(await call(second, target, 'GET', '/t/rows')).toMatchObject({ rows: [{ n: -1 }], hasMore: false });
      const counted = () => sql`
        select (select count(*)::int from table_row) as rows, (select count(*)::int from dropped_table) as dropped`;
      await expect.poll(counted).toEqual([{ rows: 1, dropped: 0 }]);
      expect(second.stderr()).toBe('');
      await second.end('SIGTERM');
    } finally {
      await sql.end();
      await database.drop();
      folder.remove();
    }
  });
});

/** The answer's `data`, where the call must succeed. `path` after `/tables`. */
async function call(program: Program, { artifactId, token }: Target, method: string, path: string, body?: string): Promise<unknown> {
  const type = path.endsWith('/import') ? 'application/x-ndjson' : 'application/json';
  const headers = { authorization: `Bearer ${token}`, ...(body !== undefined && { 'content-type': type }) };
  const reply = await fetch(`${program.baseUrl}/v1/data/${artifactId}/tables${path}`, {
    method,
    headers,
    ...(body !== undefined && { body }),
  });
  const answer = (await reply.json()) as { data: unknown };
  if (!reply.ok) throw new Error(`${method} ${path} answered ${reply.status}: ${JSON.stringify(answer)}`);
  return answer.data;
}
