/** The page SDK on the API's host, for pages that are not published here. */
import { createHash } from 'node:crypto';
import type { pageSdk } from '../../protocol/endpoints/page-sdk.ts';
import type { Config } from '../config.ts';
import { type PageSdk, SDK_MIMES, type SdkFile } from '../content/page-sdk.ts';
import type { Handlers } from '../edge/call.ts';

// A module of another origin is only run where it may be read.
const HEADERS = {
  'Cache-Control': 'public, max-age=300',
  'Access-Control-Allow-Origin': '*',
  'Cross-Origin-Resource-Policy': 'cross-origin',
  'X-Content-Type-Options': 'nosniff',
};

export function pageSdkHandlers(deps: { readonly pageSdk: PageSdk; readonly config: Config }): Handlers<keyof typeof pageSdk> {
  const serve = (file: SdkFile) => () => {
    // The address is right only when the port is bound.
    const body = deps.pageSdk.text(file, { artifactId: '', baseUrl: deps.config.baseUrl });
    const etag = `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`;
    return { reply: 'ok', body, type: SDK_MIMES[file], etag, headers: HEADERS } as const;
  };
  return {
    'sdk.script': serve('sdk.js'),
    'sdk.module': serve('sdk.mjs'),
    'sdk.types': serve('sdk.d.ts'),
    'sdk.documents': serve('sdk-doc.mjs'),
    'sdk.yjs': serve('sdk-yjs.mjs'),
  };
}
