/** A separate database for one run, filled with SQL and dropped afterwards. */
import postgres from 'postgres';

export interface BenchDatabase {
  readonly url: string;
  readonly sql: postgres.Sql;
  /** Process ids of the backends for this database, without the bench's own. */
  backends(): Promise<number[]>;
  drop(): Promise<void>;
}

export const KEYS_EACH = 10;
/** 150 bytes of JSON. */
export const VALUE = JSON.stringify({ title: 'A small record', done: false, count: 42, tags: ['a', 'b', 'c'], note: 'x'.repeat(72) });

export function artifactId(number: number): string {
  return `art_${String(number).padStart(24, '0')}`;
}

export async function createDatabase(adminUrl: string): Promise<BenchDatabase> {
  const name = `easel_bench_${process.pid}_${Date.now().toString(36)}`;
  const admin = postgres(adminUrl, { max: 1, onnotice: () => undefined });
  await admin`create database ${admin(name)}`;
  const url = new URL(adminUrl);
  url.pathname = `/${name}`;
  const sql = postgres(url.href, { max: 1, onnotice: () => undefined });
  return {
    url: url.href,
    sql,
    async backends() {
      const rows = await sql<{ pid: number }[]>`
        select pid from pg_stat_activity where datname = ${name} and pid <> pg_backend_pid() and backend_type = 'client backend'`;
      return rows.map((row) => row.pid);
    },
    async drop() {
      await sql.end({ timeout: 5 });
      await admin`drop database if exists ${admin(name)} with (force)`;
      await admin.end({ timeout: 5 });
    },
  };
}

/** Private artifacts `first … first + count - 1` of one owner, each with ten keys `k0 … k9` of `VALUE`. */
export async function seedArtifacts(sql: postgres.Sql, ownerId: string, first: number, count: number): Promise<void> {
  await registerArtifacts(sql, ownerId, first, count);
  await seedKeys(sql, first, count);
}

/** Empty private artifacts `first … first + count - 1` of one owner. */
export async function registerArtifacts(sql: postgres.Sql, ownerId: string, first: number, count: number): Promise<void> {
  const nowMs = Date.now();
  await sql`
    insert into artifact (id, owner_id, name, slug, visibility, created_at_ms, updated_at_ms)
    select 'art_' || lpad(n::text, 24, '0'), ${ownerId}, 'bench ' || n, 'bench-' || n, 'private', ${nowMs}, ${nowMs}
    from generate_series(${first}::int, ${first + count - 1}::int) n`;
  await sql`analyze artifact`;
}

export async function seedKeys(sql: postgres.Sql, first: number, count: number): Promise<void> {
  const nowMs = Date.now();
  await sql`
    insert into json_key (artifact_id, key, value, seq, created_at_ms, updated_at_ms)
    select 'art_' || lpad(n::text, 24, '0'), 'k' || k, ${VALUE}, 0, ${nowMs}, ${nowMs}
    from generate_series(${first}::int, ${first + count - 1}::int) n, generate_series(0, ${KEYS_EACH - 1}::int) k`;
  await sql`analyze json_key`;
}
