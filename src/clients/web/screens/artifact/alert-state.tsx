/** Whether a rule is quiet, firing or switched off. */
import type { AlertRule } from '../../api/client.ts';
import { Tag } from '../../ui/small.tsx';
import { words } from '../../words/words.ts';

export function StateTag({ rule }: { readonly rule: Pick<AlertRule, 'enabled' | 'state'> }) {
  const { alerts } = words.value;
  if (!rule.enabled) return <Tag>{alerts.state.off}</Tag>;
  return <Tag tone={rule.state === 'firing' ? 'warn' : 'good'}>{alerts.state[rule.state]}</Tag>;
}
