/**
 * Finds code that queries on another connection while it has a transaction open. On the embedded database, which has one session, such a query
 * waits for the end of the transaction that waits for it; on a server it does so once every connection of the pool is taken that way.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { join } from 'node:path';
import type { Sql, Transaction } from '../../src/storage/sql.ts';

export class NestedQuery extends Error {
  override readonly name = 'NestedQuery';
  constructor() {
    super('A query on another connection was begun within an open transaction. Hand the transaction in, or ask before it begins.');
  }
}

interface OpenTransaction {
  hasEnded: boolean;
}

/** A statement runs when its result is asked for; until then it may become a part of another. */
interface Startable {
  handle(): Promise<void>;
}

const SERVICE = join(import.meta.dirname, '../../src/');
const transactions = new AsyncLocalStorage<OpenTransaction>();

/** The client, whose queries throw `NestedQuery` where the same flow of calls has a transaction open. */
export function refuseNestedQueries(sql: Sql): Sql {
  return new Proxy(sql, {
    apply: (target, self, args) => watched(Reflect.apply(target as (...of: unknown[]) => unknown, self, args)),
    get: (target, name) => {
      if (name === 'unsafe') return (...args: Parameters<Sql['unsafe']>) => watched(target.unsafe(...args));
      if (name === 'begin') return (...args: readonly unknown[]) => begin(target, args);
      return Reflect.get(target, name);
    },
  });
}

function watched<T>(query: T): T {
  if (!isStartable(query)) return query;
  const handle = query.handle;
  // Its stack names the place: when the statement is started, the code that asked is not on the stack any more.
  const nested = isWithin() && isOfService() ? new NestedQuery() : null;
  query.handle = function (this: Startable) {
    if (nested !== null && isWithin()) throw nested;
    return handle.call(this);
  };
  return query;
}

function isStartable(value: unknown): value is Startable {
  return value instanceof Promise && 'handle' in value && typeof value.handle === 'function';
}

/** The code that asks. Tests may hold a lock and look at who waits for it. */
function isOfService(): boolean {
  const asking = new Error().stack?.split('\n').find((line, at) => at > 0 && !line.includes(import.meta.filename)) ?? '';
  return asking.includes(SERVICE);
}

function isWithin(): boolean {
  const open = transactions.getStore();
  return open !== undefined && !open.hasEnded;
}

async function begin(sql: Sql, args: readonly unknown[]): Promise<unknown> {
  if (isWithin() && isOfService()) throw new NestedQuery();
  const open: OpenTransaction = { hasEnded: false };
  const work = args.at(-1) as (tx: Transaction) => unknown;
  const within = (tx: Transaction) => transactions.run(open, () => work(tx));
  try {
    return await (args.length > 1 ? sql.begin(args[0] as string, within) : sql.begin(within));
  } finally {
    // What the transaction has begun, such as a timer, goes on in its flow of calls.
    open.hasEnded = true;
  }
}
