import type { Module, ModuleDeps } from '../../module.ts';
import { jsonKeyHandlers } from './handlers.ts';

type Ids = keyof ReturnType<typeof jsonKeyHandlers>;

export function jsonKeysModule({ runtime }: ModuleDeps): Module<Ids> {
  return { handlers: jsonKeyHandlers({ runtime }), atomic: (turns) => jsonKeyHandlers({ runtime: turns }) };
}
