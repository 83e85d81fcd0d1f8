/** Signs people in who have proved who they are: the account, its session, and what the others of the service must hear of it. */
import type { UserId } from '../../../../protocol/core/ids.ts';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import type { SessionCookie } from '../../../edge/session-cookies.ts';
import type { Bus } from '../../../platform/bus.ts';
import type { Config } from '../../../platform/config.ts';
import type { Queries, ServiceDeps } from '../../deps.ts';
import { type Claimed, tellClaimed } from '../../sharing/collaborators/claims.ts';
import { presentProfile } from '../accounts/handlers.ts';
import { readAccount } from '../accounts/rows.ts';
import { joinPeople, lockPeople } from '../linked-accounts/rows.ts';
import { readLinked } from '../persons/rows.ts';
import type { BegunSession, Browser, SessionService } from '../sessions/sessions.ts';
import { arrive, type Proof } from './arrival.ts';

export interface PeopleDeps extends Pick<ServiceDeps, 'sql' | 'clock' | 'log'> {
  readonly bus: Bus;
  readonly config: Config;
  readonly sessions: SessionService;
}

/** What a transaction has done, to be told after its commit. */
export interface Entered {
  readonly userId: UserId;
  readonly isNew: boolean;
  readonly session: BegunSession;
  /** Accounts whose person has changed. */
  readonly changed: readonly UserId[];
  /** Artifacts that they are a collaborator of from now on. */
  readonly claimed: readonly Claimed[];
}

export class People {
  readonly #deps: PeopleDeps;

  constructor(deps: PeopleDeps) {
    this.#deps = deps;
  }

  /** The account of the proof, made where there is none, and joined to whoever has proved the same address before. */
  async arrive(tx: Queries, proof: Proof): Promise<Omit<Entered, 'session'>> {
    const { config, clock } = this.#deps;
    const { userId, isNew, joins, claimed } = await arrive(tx, proof, { tier: config.DEFAULT_TIER, nowMs: clock.nowMs() });
    return { userId, isNew, claimed, changed: joins === null ? [] : await this.#join(tx, joins, userId) };
  }

  /** Somebody who has as many accounts as a person may have stays alone with the new one. */
  async #join(tx: Queries, into: UserId, joining: UserId): Promise<readonly UserId[]> {
    await lockPeople(tx);
    if ((await readLinked(tx, [into])).length >= LIMITS.linkedAccountsMax) return [];
    return joinPeople(tx, into, joining);
  }

  async enter(tx: Queries, proof: Proof, cookie: SessionCookie, browser: Browser): Promise<Entered> {
    const arrived = await this.arrive(tx, proof);
    return { ...arrived, session: await this.#deps.sessions.begin(tx, arrived.userId, cookie, browser) };
  }

  /** Call it after the commit. */
  tell({ userId, isNew, session, changed, claimed }: Entered, how: string): void {
    const { bus, log, sessions } = this.#deps;
    sessions.tell(session.ended);
    if (changed.length > 0) bus.tell({ kind: 'person.changed', userIds: changed });
    tellClaimed(bus, claimed);
    log.info({ userId, isNew, how, session: session.id }, 'signed in');
  }

  /** The answer of every endpoint that signs in. */
  async reply({ userId, session }: Pick<Entered, 'userId' | 'session'>, moreCookies: readonly string[] = []) {
    const user = presentProfile(await readAccount(this.#deps.sql, userId));
    return { reply: 'ok', body: { user }, headers: { 'Set-Cookie': [...session.setCookies, ...moreCookies] } } as const;
  }
}
