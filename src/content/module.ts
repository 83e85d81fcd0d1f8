import type { Module, ModuleDeps } from '../features/module.ts';
import { pageSdkHandlers } from './handlers.ts';
import { type ContentDeps, ContentServer } from './server.ts';

type Ids = keyof ReturnType<typeof pageSdkHandlers>;

export function contentModule(deps: ModuleDeps & ContentDeps): Module<Ids> & { readonly content: ContentServer } {
  const content = new ContentServer(deps);
  return { content, handlers: pageSdkHandlers(deps), close: () => content.close() };
}
