import Negotiator from 'negotiator';
import { KEPT_WITHOUT_END, RETENTION, type RetentionRule } from '../../../../protocol/business/retention.ts';
import type { terms } from '../../../../protocol/business/terms.ts';
import { TIER_ORDER, TIERS } from '../../../../protocol/business/tiers.ts';
import { PAGE_HEADERS, PAGE_TYPE } from '../../../edge/page-frame.ts';
import { systemClock } from '../../../platform/clock.ts';
import type { Module, ModuleDeps } from '../../module.ts';
import { presentAllowance } from '../tiers/rules.ts';
import { limitsPage, statusPage } from './pages.ts';
import { type HealthOf, StatusReader } from './status.ts';
import { ratesInForce } from './tables.ts';

export function termsModule(deps: ModuleDeps & { readonly health: HealthOf }): Module<keyof typeof terms> {
  const status = new StatusReader({ ...deps, ioClock: systemClock });
  return {
    handlers: {
      'terms.limits': () => ({ reply: 'ok', body: limitsBody() }),
      'terms.retention': () => ({ reply: 'ok', body: retentionBody() }),
      'terms.page': () => ({ reply: 'page', body: limitsPage(), type: PAGE_TYPE, headers: PAGE_HEADERS }),
      'terms.status': async ({ accept }) => {
        const body = await status.read();
        if (!wantsPage(accept)) return { reply: 'ok', body, headers: { 'Cache-Control': 'no-store' } };
        return { reply: 'page', body: statusPage(body), type: PAGE_TYPE, headers: PAGE_HEADERS };
      },
    },
  };
}

/** A browser names HTML first; programs that name nothing get JSON. */
function wantsPage(accept: string): boolean {
  return new Negotiator({ headers: { accept: accept || '*/*' } }).mediaTypes(['application/json', 'text/html'])[0] === 'text/html';
}

function limitsBody() {
  const plans = TIER_ORDER.map((tier) => ({ tier, features: [...TIERS[tier].features], allowances: presentAllowance(tier) }));
  const rates = ratesInForce().map(({ name, quota, windowS, by }) => ({ name, quota, window_s: windowS, by }));
  return { plans, rates };
}

function retentionBody() {
  const rules = Object.entries<RetentionRule>(RETENTION).map(([name, { what, keptMs, since }]) => ({
    ...{ name, what, since },
    kept_s: keptMs === null ? null : keptMs / 1000,
  }));
  return { rules, without_end: [...KEPT_WITHOUT_END] };
}
