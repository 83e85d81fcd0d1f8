import { purgeDocuments } from '../../../storage/document-purge.ts';
import type { Module, ModuleDeps, PurgeArtifact } from '../../module.ts';
import { type DocumentDeps, documentHandlers } from './handlers.ts';
import { WholeDocuments } from './whole-documents.ts';

type Ids = keyof ReturnType<typeof documentHandlers>;

interface Offered {
  readonly purge: PurgeArtifact;
  readonly whole: WholeDocuments;
}

export function documentsModule(deps: ModuleDeps & Pick<DocumentDeps, 'rooms'>): Module<Ids> & Offered {
  const whole = new WholeDocuments(deps);
  return {
    whole,
    purge: (artifactId, signal) => purgeDocuments(deps.sql, artifactId, signal),
    handlers: documentHandlers({ ...deps, whole }),
  };
}
