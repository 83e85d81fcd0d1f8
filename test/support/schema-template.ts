/** A database with the current schema, of which every test on the server gets a copy: its migrations would take ten times as long. */
import { join } from 'node:path';
import postgres from 'postgres';
import { migrate } from '../../src/storage/migrations.ts';
import { connect } from '../../src/storage/sql.ts';
import type { Services } from './services.ts';

const PREFIX = 'easel_test_template_';

export function templateName(pid: number): string {
  return `${PREFIX}${pid}`;
}

type Place = Pick<Services, 'postgresUrl' | 'postgresTemplate' | 'builtDir'>;

/** Makes the template, and removes those of runs that were killed. Answers what removes it. */
export async function makeTemplate({ postgresUrl, postgresTemplate, builtDir }: Place, isAlive: (pid: number) => boolean) {
  if (postgresUrl === null) return async () => undefined;
  const left = await onServer(postgresUrl, async (sql) => {
    const rows = await sql<{ name: string }[]>`select datname as name from pg_database where starts_with(datname, ${PREFIX})`;
    await sql.unsafe(`create database ${postgresTemplate}`);
    return rows.map(({ name }) => name).filter((name) => !isAlive(Number(name.slice(PREFIX.length))));
  });
  await dropAll(postgresUrl, left);
  const url = new URL(postgresUrl);
  url.pathname = `/${postgresTemplate}`;
  const sql = connect({ url: url.href }, 1);
  await migrate(sql, join(builtDir, 'migrations'));
  await sql.end();
  return () => dropAll(postgresUrl, [postgresTemplate]);
}

async function dropAll(postgresUrl: string, names: readonly string[]): Promise<void> {
  await onServer(postgresUrl, async (sql) => {
    for (const name of names) await sql.unsafe(`drop database if exists ${name} with (force)`);
  });
}

async function onServer<T>(postgresUrl: string, work: (sql: postgres.Sql) => Promise<T>): Promise<T> {
  const sql = postgres(postgresUrl, { max: 1, onnotice: () => undefined });
  try {
    return await work(sql);
  } finally {
    await sql.end();
  }
}
