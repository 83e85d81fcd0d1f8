/** What an import takes over, decided without I/O. */
import type { Visibility } from '../../../../protocol/artifacts/artifacts.ts';

/** A password is not exported: such a page is imported as private, for the new owner to open. So is one that members saw, outside of any workspace. */
export function importedVisibility(exported: Visibility, inWorkspace: boolean): Visibility {
  if (exported === 'workspace' && inWorkspace) return 'workspace';
  return exported === 'public' ? 'public' : 'private';
}
