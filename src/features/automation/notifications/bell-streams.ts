/** Open bells: each is told how many notices are unread, and the banner of the installation, at first and after each change. */
import type { Principal } from '../../../../actors/access/access.ts';
import type { Clock, Log, Timer } from '../../../../actors/runtime/ports.ts';
import { Failure } from '../../../../protocol/core/errors.ts';
import type { TokenId, UserId } from '../../../../protocol/core/ids.ts';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import { networkOf } from '../../../edge/address.ts';
import type { ReplySink, ReplyStream } from '../../../edge/reply-stream.ts';
import type { Bus } from '../../../platform/bus.ts';
import { type Refusals, Shares } from '../../../platform/shares.ts';
import { viewerOf } from '../../artifacts/artifacts/lists.ts';
import type { Queries } from '../../deps.ts';
import { accountsOf } from '../../people/accounts/rules.ts';
import type { TokenService } from '../../people/tokens/tokens.ts';
import { countNotices, readMarks } from './rows.ts';

const HEARTBEAT_MS = 15_000;
const RETRY_MS = 2000;
const RETRY_AFTER_S = 10;
const TOKENS_AT_ONCE = 500;

export interface BellStreamDeps {
  readonly sql: Queries;
  readonly clock: Clock;
  readonly log: Log;
  readonly bus: Bus;
  readonly refusals: Refusals;
  readonly tokens: Pick<TokenService, 'endedOf'>;
  readonly keptMs: number;
  readonly streamsMax: number;
  /** What `GET /v1/banner` answers. */
  readonly banner: () => Promise<{ readonly banner: unknown }>;
}

export interface BellCaller {
  readonly principal: Principal;
  readonly address: string;
  readonly userId: UserId;
}

interface OpenBell {
  readonly principal: Principal;
  readonly tokenId: TokenId | undefined;
  readonly accounts: readonly UserId[];
  readonly sink: ReplySink;
  /** `asked`: once more after the count that is under way. `held`: the reader is slow, and gets the count of later. */
  state: 'idle' | 'counting' | 'asked' | 'held';
  isOver: boolean;
  last: number | undefined;
  lastBanner: string | undefined;
}

export class BellStreams {
  readonly #deps: BellStreamDeps;
  readonly #shares: Shares;
  readonly #open = new Set<OpenBell>();
  readonly #byAccount = new Map<UserId, Set<OpenBell>>();
  #marks: ReadonlyMap<UserId, string> = new Map();
  #beat: Timer | undefined;

  constructor(deps: BellStreamDeps) {
    this.#deps = deps;
    const total = deps.streamsMax;
    this.#shares = new Shares({ total, network: Math.ceil(total / 4), caller: LIMITS.bellStreamsPerPersonMax, artifact: total });
    deps.bus.listen('bells', {
      'notices.changed': ({ userIds }) => this.#each(userIds, (bell) => void this.#count(bell)),
      'token.revoked': ({ tokenId }) => this.#endWhere((bell) => bell.tokenId === tokenId),
      // A browser connects again, as who it is then.
      'person.changed': ({ userIds }) => this.#each(userIds, (bell) => this.#end(bell)),
      'instance.changed': () => this.#tellBanner(this.#open),
      resync: () => this.#compare(),
    });
  }

  get total(): number {
    return this.#shares.total;
  }

  /** Throws UNAVAILABLE. */
  open({ principal, address, userId }: BellCaller): ReplyStream {
    const holders = { network: networkOf(address), caller: principal.kind === 'user' ? principal.person.id : userId };
    const exhausted = this.#shares.take(1, holders);
    if (exhausted !== undefined) {
      this.#deps.refusals.refused('bells', exhausted);
      throw new Failure('UNAVAILABLE', { message: 'Too many streams of notifications are open.', retryAfterS: RETRY_AFTER_S });
    }
    const leave = () => this.#shares.give(1, holders);
    return { endless: true, start: (sink) => this.#start(principal, sink, leave), abandon: leave };
  }

  close(): void {
    this.#endWhere(() => true);
    this.#beat?.cancel();
  }

  #start(principal: Principal, sink: ReplySink, leave: () => void): void {
    const bell: OpenBell = {
      principal,
      tokenId: principal.kind === 'anonymous' ? undefined : principal.tokenId,
      accounts: accountsOf(principal),
      sink,
      state: 'idle',
      isOver: false,
      last: undefined,
      lastBanner: undefined,
    };
    this.#open.add(bell);
    for (const id of bell.accounts) this.#byAccount.set(id, (this.#byAccount.get(id) ?? new Set()).add(bell));
    sink.onDrain(() => this.#drained(bell));
    sink.onClose(() => {
      this.#remove(bell);
      leave();
    });
    this.#beat ??= this.#deps.clock.after(HEARTBEAT_MS, () => void this.#heartbeat());
    this.#write(bell, `retry: ${RETRY_MS}\n\n`);
    void this.#count(bell);
    void this.#tellBanner([bell]);
  }

  #remove(bell: OpenBell): void {
    bell.isOver = true;
    this.#open.delete(bell);
    for (const id of bell.accounts) {
      const others = this.#byAccount.get(id);
      others?.delete(bell);
      if (others?.size === 0) this.#byAccount.delete(id);
    }
  }

  #end(bell: OpenBell): void {
    this.#remove(bell);
    bell.sink.end();
  }

  #endWhere(isMeant: (bell: OpenBell) => boolean): void {
    for (const bell of [...this.#open]) if (isMeant(bell)) this.#end(bell);
  }

  #each(userIds: readonly UserId[], run: (bell: OpenBell) => void): void {
    const bells = new Set(userIds.flatMap((id) => [...(this.#byAccount.get(id) ?? [])]));
    for (const bell of bells) run(bell);
  }

  #drained(bell: OpenBell): void {
    if (bell.state !== 'held') return;
    bell.state = 'idle';
    void this.#count(bell);
    void this.#tellBanner([bell]);
  }

  /** Whom it is new to. Who is slow gets it when they have taken what they were sent. Never rejects. */
  async #tellBanner(bells: Iterable<OpenBell>): Promise<void> {
    try {
      const text = JSON.stringify(await this.#deps.banner());
      for (const bell of [...bells]) {
        if (bell.state === 'held' || bell.lastBanner === text) continue;
        bell.lastBanner = text;
        this.#write(bell, `event: banner\ndata: ${text}\n\n`);
      }
    } catch (err) {
      this.#deps.log.warn({ err }, 'the banner was not told to open bells; the next heartbeat tries again');
    }
  }

  #write(bell: OpenBell, text: string): void {
    if (!bell.isOver && !bell.sink.write(text)) bell.state = 'held';
  }

  /** Never rejects. */
  async #count(bell: OpenBell): Promise<void> {
    if (bell.state === 'counting') bell.state = 'asked';
    if (bell.state !== 'idle') return;
    const { sql, clock, log, keptMs } = this.#deps;
    do {
      bell.state = 'counting';
      try {
        const unread = await countNotices(sql, { viewer: viewerOf(bell.principal), sinceMs: clock.nowMs() - keptMs, unread: true });
        if (isAskedAgain(bell)) continue;
        bell.state = 'idle';
        if (unread !== bell.last) this.#write(bell, `event: unread\ndata: {"unread_count":${unread}}\n\n`);
        bell.last = unread;
      } catch (err) {
        log.warn({ err }, 'the unread notices of an open bell were not counted; the next change or heartbeat tries again');
        bell.state = 'idle';
        bell.last = undefined;
      }
    } while (isAskedAgain(bell) && !bell.isOver);
  }

  async #heartbeat(): Promise<void> {
    await this.#compare();
    for (const bell of this.#open) if (bell.state === 'idle') this.#write(bell, ':\n\n');
    this.#beat = this.#open.size > 0 ? this.#deps.clock.after(HEARTBEAT_MS, () => void this.#heartbeat()) : undefined;
  }

  /** Counts again for accounts whose notices have changed though no fact told it, and ends the bells of credentials that have ended. Never rejects. */
  async #compare(): Promise<void> {
    if (this.#open.size === 0) return;
    const { sql, log, tokens, clock } = this.#deps;
    await this.#tellBanner(this.#open);
    try {
      const marks = await readMarks(sql, [...this.#byAccount.keys()]);
      const before = this.#marks;
      this.#marks = marks;
      const changed = [...marks].filter(([id, mark]) => before.get(id) !== mark).map(([id]) => id);
      this.#each(changed, (bell) => void this.#count(bell));
      const tokenIds = [...new Set([...this.#open].flatMap(({ tokenId }) => tokenId ?? []))];
      for (let from = 0; from < tokenIds.length; from += TOKENS_AT_ONCE) {
        const ended = new Set(await tokens.endedOf(tokenIds.slice(from, from + TOKENS_AT_ONCE)));
        this.#endWhere(({ tokenId }) => tokenId !== undefined && ended.has(tokenId));
      }
      const nowMs = clock.nowMs();
      this.#endWhere(({ principal }) => 'expiresAtMs' in principal && (principal.expiresAtMs ?? Infinity) <= nowMs);
    } catch (err) {
      log.warn({ err }, 'open bells were not compared with the store; the next heartbeat tries again');
    }
  }
}

/** Told by others during an await, which the compiler cannot see. */
function isAskedAgain({ state }: { readonly state: OpenBell['state'] }): boolean {
  return state === 'asked';
}
