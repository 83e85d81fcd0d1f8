/** Serves the page SDK on the API's host, for pages that are published elsewhere. */
import type { pageSdk } from '../../protocol/core/page-sdk.ts';
import { contentEtag } from '../edge/answer.ts';
import type { Handlers } from '../edge/call.ts';
import type { Config } from '../platform/config.ts';
import { type PageSdk, SDK_MIMES, type SdkFile } from './page-sdk.ts';

// Browsers run a module of another origin only where CORS allows reading it.
const HEADERS = {
  'Cache-Control': 'public, max-age=300',
  'Access-Control-Allow-Origin': '*',
  'Cross-Origin-Resource-Policy': 'cross-origin',
  'X-Content-Type-Options': 'nosniff',
};

export function pageSdkHandlers(deps: { readonly pageSdk: PageSdk; readonly config: Config }): Handlers<keyof typeof pageSdk> {
  const serve = (file: SdkFile) => () => {
    // The URL is known only once the port is bound.
    const body = deps.pageSdk.text(file, { artifactId: '', baseUrl: deps.config.baseUrl });
    return { reply: 'ok', body, type: SDK_MIMES[file], etag: contentEtag(body), headers: HEADERS } as const;
  };
  return {
    'sdk.script': serve('sdk.js'),
    'sdk.module': serve('sdk.mjs'),
    'sdk.types': serve('sdk.d.ts'),
    'sdk.documents': serve('sdk-doc.mjs'),
    'sdk.yjs': serve('sdk-yjs.mjs'),
  };
}
