import type { Module, ModuleDeps } from '../../module.ts';
import { Answering } from './answering.ts';
import { Fitting } from './fitting.ts';
import { type AskDeps, askHandlers } from './handlers.ts';
import { OpenAnswers } from './open-answers.ts';
import { PageSources, type PageSourcesDeps } from './page-sources.ts';

type Ids = keyof ReturnType<typeof askHandlers>;
type Deps = ModuleDeps & Pick<AskDeps, 'workspaces' | 'passages' | 'flags'> & Pick<PageSourcesDeps, 'tables' | 'datasets' | 'documents'>;

export function askModule(deps: Deps): Module<Ids> {
  const { ASK_BASE_URL: baseUrl, ASK_MODEL: name, ASK_API_KEY: apiKey } = deps.settings;
  const model = baseUrl === undefined || name === undefined ? undefined : { baseUrl, model: name, apiKey };
  const answering = new Answering({ ...deps, model });
  const open = new OpenAnswers(deps);
  const pages = new PageSources(deps);
  const fittingOf = (question: string) => Fitting.of(deps.sql, question);
  return {
    handlers: askHandlers({ ...deps, answering, open, pages, fittingOf }),
    gauges: [{ name: 'easel_model_calls', help: 'Answers that a model is writing.', read: () => answering.calls }],
    drain: async () => open.close(),
  };
}
