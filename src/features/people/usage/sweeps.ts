/** Daily work on what accounts store: ends what nobody finished, forgets what the sweep of objects has removed, and checks the counters. */
import { RETENTION } from '../../../../protocol/business/retention.ts';
import type { ServiceDeps } from '../../deps.ts';
import { correctUsage, expiredReservations, foldReleases, type Holder, listHolders, lockUsage, recount } from './rows.ts';
import { endReservation } from './storage.ts';

type Deps = Pick<ServiceDeps, 'sql' | 'clock' | 'log'>;

const ROWS_AT_ONCE = 100;
/** Between two holders, so that a large installation's calls do not wait for the count, which has the whole day. */
const BETWEEN_HOLDERS_MS = 5;
/** The sweep of objects keeps what nothing names for as long. */
const GRACE_MS = RETENTION.storageReleases.keptMs;

/** Answers how many it ended. */
export async function endExpired(deps: Deps, signal: AbortSignal): Promise<number> {
  const nowMs = deps.clock.nowMs();
  let ended = 0;
  for (;;) {
    const expired = await expiredReservations(deps.sql, nowMs, ROWS_AT_ONCE);
    for (const { id } of expired) {
      if (signal.aborted) return ended;
      if (await endReservation(deps, id, { stored: false })) ended += 1;
    }
    if (expired.length < ROWS_AT_ONCE) return ended;
  }
}

/** Answers of how many accounts it forgot what they had removed. Runs after the sweep of objects. */
export function forgetReleases({ sql, clock }: Deps): Promise<number> {
  return foldReleases(sql, clock.nowMs() - GRACE_MS);
}

/** Counts what every account and every workspace stores and corrects the counters where they differ, which is a fault. Answers how many it corrected. */
export async function reconcile({ sql, log, clock }: Deps, signal: AbortSignal): Promise<number> {
  let corrected = 0;
  let accounts = await listHolders(sql, '', ROWS_AT_ONCE);
  while (accounts.length > 0) {
    for (const accountId of accounts) {
      if (signal.aborted) return corrected;
      if (await reconcileOne({ sql, log }, accountId)) corrected += 1;
      await new Promise<void>((resolve) => clock.after(BETWEEN_HOLDERS_MS, resolve));
    }
    accounts = await listHolders(sql, accounts.at(-1) ?? '', ROWS_AT_ONCE);
  }
  return corrected;
}

async function reconcileOne({ sql, log }: Pick<Deps, 'sql' | 'log'>, accountId: Holder): Promise<boolean> {
  return sql.begin(async (tx) => {
    await lockUsage(tx, accountId);
    const found = await recount(tx, accountId);
    if (found === null || (found.bytes === found.trueBytes && found.artifacts === found.trueArtifacts)) return false;
    await correctUsage(tx, accountId, found);
    log.warn({ accountId, ...found }, 'the counters of an account differed from what it stores and were corrected');
    return true;
  });
}
