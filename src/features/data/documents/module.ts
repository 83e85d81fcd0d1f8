import { purgeDocuments } from '../../../storage/document-purge.ts';
import type { Module, ModuleDeps, PurgeArtifact } from '../../module.ts';
import { type DocumentDeps, documentHandlers } from './handlers.ts';

type Ids = keyof ReturnType<typeof documentHandlers>;

export function documentsModule(deps: ModuleDeps & Pick<DocumentDeps, 'rooms'>): Module<Ids> & { readonly purge: PurgeArtifact } {
  return {
    purge: (artifactId, signal) => purgeDocuments(deps.sql, artifactId, signal),
    handlers: documentHandlers(deps),
  };
}
