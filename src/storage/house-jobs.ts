/** The SQL of `house_job`: which node does what is done once for all of them. What a job does is safe to be done twice; the claim saves the work. */
import type { Queries } from './sql.ts';

export interface HouseClaim {
  readonly name: string;
  /** Of this claim alone. */
  readonly fence: number;
  /** For when it was wanted, Unix ms. */
  readonly dueMs: number;
  /** What nodes before this one have done of it since it was wanted for that time. */
  readonly stepsDone: readonly string[];
}

/** Repeating it changes nothing. Steps that were done before the new time do not count for it. */
export async function wantJob(sql: Queries, name: string, dueMs: number): Promise<void> {
  await sql`
    insert into house_job (name, due_ms) values (${name}, ${dueMs})
    on conflict (name) do update set due_ms = excluded.due_ms, steps_done = '{}' where house_job.due_ms < excluded.due_ms`;
}

/** All of it once more, whatever was done before and whoever has claimed it. For a process without others: whoever has the claim is dead. */
export async function wantJobAnew(sql: Queries, name: string, nowMs: number): Promise<void> {
  await sql`
    insert into house_job (name, due_ms) values (${name}, ${nowMs})
    on conflict (name) do update set
      due_ms = greatest(house_job.due_ms + 1, excluded.due_ms), steps_done = '{}', fence = house_job.fence + 1, lease_ends_at = null`;
}

/** Null where it is not due, or another node does it. */
export async function claimJob(sql: Queries, name: string, leaseMs: number): Promise<HouseClaim | null> {
  const [row] = await sql<{ fence: number; due_ms: number; steps_done: string[] }[]>`
    update house_job set fence = fence + 1, lease_ends_at = clock_timestamp() + ${leaseMs}::int * interval '1 ms'
    where name = (
      select name from house_job
      where name = ${name} and due_ms > done_ms and (lease_ends_at is null or lease_ends_at <= clock_timestamp())
      for update skip locked
    )
    returning fence, due_ms, steps_done`;
  return row === undefined ? null : { name, fence: row.fence, dueMs: row.due_ms, stepsDone: row.steps_done };
}

/** False where the claim is lost. */
export async function renewClaim(sql: Queries, { name, fence }: HouseClaim, leaseMs: number): Promise<boolean> {
  const { count } = await sql`
    update house_job set lease_ends_at = clock_timestamp() + ${leaseMs}::int * interval '1 ms' where name = ${name} and fence = ${fence}`;
  return count > 0;
}

/** False where the claim is lost. A step that began before the job was wanted for a later time does not count for that time. */
export async function noteStep(sql: Queries, { name, fence, dueMs }: HouseClaim, step: string): Promise<boolean> {
  const { count } = await sql`
    update house_job set steps_done = case when due_ms = ${dueMs} then array_append(steps_done, ${step}::text) else steps_done end
    where name = ${name} and fence = ${fence}`;
  return count > 0;
}

/** What was wanted meanwhile stays due. False where the claim is lost. */
export async function endJob(sql: Queries, { name, fence, dueMs }: HouseClaim): Promise<boolean> {
  const { count } = await sql`
    update house_job set done_ms = ${dueMs}, lease_ends_at = null, steps_done = '{}' where name = ${name} and fence = ${fence}`;
  return count > 0;
}

/** The next node goes on at once. */
export async function giveUpJob(sql: Queries, { name, fence }: HouseClaim): Promise<void> {
  await sql`update house_job set lease_ends_at = null where name = ${name} and fence = ${fence}`;
}
