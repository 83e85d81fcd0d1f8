import type { Module, ModuleDeps } from '../../module.ts';
import { templateHandlers } from './handlers.ts';
import { mailPreview } from './preview-page.ts';
import { systemMailHandlers } from './system-handlers.ts';

type Ids = keyof ReturnType<typeof templateHandlers> | keyof ReturnType<typeof systemMailHandlers> | keyof typeof mailPreview;

export function templatesModule(deps: ModuleDeps): Module<Ids> {
  return { handlers: { ...templateHandlers(deps), ...systemMailHandlers(deps), ...mailPreview } };
}
