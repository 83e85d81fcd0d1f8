import type { WholeDocuments } from '../../data/documents/whole-documents.ts';
import type { Module, ModuleDeps } from '../../module.ts';
import { Answering } from './answering.ts';
import { type AskDeps, askHandlers } from './handlers.ts';
import { OpenAnswers } from './open-answers.ts';
import { PageSources } from './page-sources.ts';

type Ids = keyof ReturnType<typeof askHandlers>;
type Deps = ModuleDeps & Pick<AskDeps, 'workspaces' | 'passages' | 'flags'> & { readonly whole: WholeDocuments };

export function askModule(deps: Deps): Module<Ids> {
  const { ASK_BASE_URL: baseUrl, ASK_MODEL: name, ASK_API_KEY: apiKey } = deps.settings;
  const model = baseUrl === undefined || name === undefined ? undefined : { baseUrl, model: name, apiKey };
  const answering = new Answering({ ...deps, model });
  const open = new OpenAnswers(deps);
  const pages = new PageSources({ sql: deps.sql, config: deps.config, documents: deps.whole });
  return {
    handlers: askHandlers({ ...deps, answering, open, pages }),
    gauges: [{ name: 'easel_model_calls', help: 'Answers that a model is writing.', read: () => answering.calls }],
    drain: async () => open.close(),
  };
}
