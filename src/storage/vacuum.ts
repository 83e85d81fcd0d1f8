/** What autovacuum does on a server: the embedded database has no background processes, so dead rows would stay for ever. */
import type { Sql } from './sql.ts';

/** Vacuums table by table, so that waiting queries run in between. Returns the number of tables done before `signal` fired. */
export async function vacuum(sql: Sql, signal: AbortSignal): Promise<number> {
  const tables = await sql<{ name: string }[]>`
    select format('%I.%I', schemaname, tablename) as name from pg_tables where schemaname = 'public' order by tablename`;
  let done = 0;
  for (const { name } of tables) {
    if (signal.aborted) break;
    await sql.unsafe(`vacuum (analyze) ${name}`);
    done += 1;
  }
  return done;
}
