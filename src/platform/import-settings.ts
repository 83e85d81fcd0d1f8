/** Settings of the drives that files are imported from. */
import type { Issue } from '../../protocol/core/errors.ts';

export interface ImportProviderSettings {
  readonly clientId: string;
  readonly clientSecret: string;
  /** Without a trailing slash. */
  readonly apiUrl: string;
  readonly authorizeUrl: string;
  readonly tokenUrl: string;
}

export interface ImportSettings {
  readonly cloud_drive: ImportProviderSettings | null;
  readonly office_suite: ImportProviderSettings | null;
}

type Name = 'CLOUD_DRIVE' | 'OFFICE_SUITE';
type Given = Readonly<
  Partial<Record<`IMPORT_${Name}_${'CLIENT_ID' | 'CLIENT_SECRET'}`, string | undefined>> &
    Record<`IMPORT_${Name}_${'API' | 'AUTHORIZE' | 'TOKEN'}_URL`, string>
>;

/** The drives that have a client id, and what is wrong with their settings. */
export function readImportSettings(given: Given): { readonly imports: ImportSettings; readonly issues: readonly Issue[] } {
  const issues: Issue[] = [];
  const read = (name: Name): ImportProviderSettings | null => {
    const clientId = given[`IMPORT_${name}_CLIENT_ID`];
    const clientSecret = given[`IMPORT_${name}_CLIENT_SECRET`];
    if ((clientId === undefined) !== (clientSecret === undefined))
      issues.push({ path: `IMPORT_${name}_CLIENT_ID, IMPORT_${name}_CLIENT_SECRET`, message: 'needed together, or none of them' });
    if (clientId === undefined || clientSecret === undefined) return null;
    return {
      clientId,
      clientSecret,
      apiUrl: given[`IMPORT_${name}_API_URL`].replace(/\/$/, ''),
      authorizeUrl: given[`IMPORT_${name}_AUTHORIZE_URL`],
      tokenUrl: given[`IMPORT_${name}_TOKEN_URL`],
    };
  };
  return { imports: { cloud_drive: read('CLOUD_DRIVE'), office_suite: read('OFFICE_SUITE') }, issues };
}
