/** Reads another host for a page: from what is kept, or anew. Several who want the same address at once wait for one call. */
import CachePolicy from 'http-cache-semantics';
import type { Clock } from '../../../../actors/runtime/ports.ts';
import type { ArtifactId } from '../../../../protocol/core/ids.ts';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import type { Egress, EgressReply } from '../../../egress/egress.ts';
import { type KeptAnswer, KeptAnswers } from './kept-answers.ts';
import type { ProxySettings } from './rows.ts';
import { isPassableStatus, requireHost } from './rules.ts';

export interface ProxyRead {
  readonly reply: EgressReply;
  /** `revalidated`: the host said that what is kept still holds. */
  readonly cached: 'hit' | 'revalidated' | 'miss' | 'bypass';
  /** Seconds for which a browser need not ask again. */
  readonly freshS: number;
}

export interface ProxyWish {
  readonly artifactId: ArtifactId;
  readonly url: string;
  readonly accept: string;
  readonly settings: ProxySettings;
}

interface ProxyReadingDeps {
  readonly egress: Pick<Egress, 'fetch'>;
  readonly clock: Pick<Clock, 'nowMs'>;
}

export class ProxyReading {
  readonly kept = new KeptAnswers();
  readonly #deps: ProxyReadingDeps;
  readonly #underWay = new Map<string, Promise<ProxyRead>>();
  readonly #Policy: typeof CachePolicy;

  constructor(deps: ProxyReadingDeps) {
    this.#deps = deps;
    this.#Policy = class extends CachePolicy {
      // The library asks its own method, which its types leave out.
      now(): number {
        return deps.clock.nowMs();
      }
    };
  }

  /** Throws `EgressFailure` and HOST_NOT_ALLOWED. */
  read(wish: ProxyWish): Promise<ProxyRead> {
    const { artifactId, url, accept, settings } = wish;
    const key = JSON.stringify([artifactId, url, accept, settings]);
    const underWay = this.#underWay.get(key);
    if (underWay !== undefined) return underWay;
    const read = this.#read(wish).finally(() => this.#underWay.delete(key));
    this.#underWay.set(key, read);
    return read;
  }

  async #read(wish: ProxyWish): Promise<ProxyRead> {
    const { artifactId, url, settings } = wish;
    const asked = requestOf(wish);
    const kept = this.kept.get(artifactId, url);
    if (kept?.policy.satisfiesWithoutRevalidation(asked)) {
      // The hosts may have changed since.
      for (const one of [url, kept.reply.url]) requireHost(settings, new URL(one));
      return { reply: kept.reply, cached: 'hit', freshS: freshSOf(kept.policy) };
    }
    const conditions = kept === undefined ? {} : kept.policy.revalidationHeaders(asked);
    const reply = await this.#fetch(wish, validatorsIn(conditions));
    if (kept !== undefined && reply.status === 304) return this.#stillHolds(wish, kept, reply);
    const policy = this.#policyOf(wish, reply);
    if (policy.storable() && isPassableStatus(reply.status)) this.kept.set(artifactId, url, { reply, policy });
    else this.kept.delete(artifactId, url);
    return { reply, cached: policy.storable() ? 'miss' : 'bypass', freshS: freshSOf(policy) };
  }

  #stillHolds(wish: ProxyWish, { reply, policy }: KeptAnswer, answer: EgressReply): ProxyRead {
    const { policy: renewed } = policy.revalidatedPolicy(requestOf(wish), responseOf(answer));
    this.kept.set(wish.artifactId, wish.url, { reply, policy: renewed });
    return { reply, cached: 'revalidated', freshS: freshSOf(renewed) };
  }

  #fetch({ artifactId, url, accept, settings }: ProxyWish, validators: Readonly<Record<string, string>>): Promise<EgressReply> {
    return this.#deps.egress.fetch({
      method: 'GET',
      url,
      headers: { accept, ...validators },
      bytesMax: LIMITS.proxyBytesMax,
      timeoutMs: LIMITS.proxyMs,
      redirectsMax: LIMITS.proxyRedirectsMax,
      share: artifactId,
      require: (hop) => requireHost(settings, hop),
    });
  }

  #policyOf(wish: ProxyWish, reply: EgressReply): CachePolicy {
    const saysItself = ['cache-control', 'expires', 'pragma'].some((name) => name in reply.headers);
    const { cacheS } = wish.settings;
    const headers =
      saysItself || cacheS === 0 || reply.status !== 200 ? reply.headers : { ...reply.headers, 'cache-control': `max-age=${cacheS}` };
    return new this.#Policy(requestOf(wish), responseOf({ ...reply, headers }), { shared: true, cacheHeuristic: 0 });
  }
}

function requestOf({ url, accept }: ProxyWish): CachePolicy.Request {
  return { method: 'GET', url, headers: { accept } };
}

function responseOf({ status, headers }: Pick<EgressReply, 'status' | 'headers'>): CachePolicy.Response {
  return { status, headers };
}

function validatorsIn(headers: CachePolicy.Headers): Readonly<Record<string, string>> {
  const validators: Record<string, string> = {};
  for (const name of ['if-none-match', 'if-modified-since']) {
    const value = headers[name];
    if (typeof value === 'string') validators[name] = value;
  }
  return validators;
}

function freshSOf(policy: CachePolicy): number {
  return Math.max(0, Math.floor(policy.timeToLive() / 1000));
}
