import { RETENTION } from '../../../../protocol/business/retention.ts';
import { SigningKey } from '../../../storage/signing-key.ts';
import type { Module, ModuleDeps } from '../../module.ts';
import { type EmailDeps, emailHandlers } from './handlers.ts';
import { deleteOldBatches } from './rows.ts';
import { unsubscribePages } from './unsubscribe-pages.ts';

type Ids = keyof ReturnType<typeof emailHandlers> | keyof ReturnType<typeof unsubscribePages>;

const KEPT_MS = RETENTION.pageMails.keptMs;
const KEY_NAME = 'notify_owner_key';

export function emailModule(deps: ModuleDeps & Pick<EmailDeps, 'mail'>): Module<Ids> {
  const { sql, clock } = deps;
  return {
    handlers: { ...emailHandlers({ ...deps, proofKey: new SigningKey(sql, KEY_NAME) }), ...unsubscribePages(deps) },
    sweeps: [{ name: 'pageMails', run: () => deleteOldBatches(sql, clock.nowMs() - KEPT_MS) }],
  };
}
