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
  const answer = (body: string, type: string) => ({ reply: 'ok', body, type, etag: contentEtag(body), headers: HEADERS }) as const;
  // The URL is known only once the port is bound.
  const serve = (file: SdkFile) => () => answer(deps.pageSdk.text(file, { artifactId: '', baseUrl: deps.config.baseUrl }), SDK_MIMES[file]);
  return {
    'sdk.script': serve('sdk.js'),
    'sdk.module': serve('sdk.mjs'),
    'sdk.types': serve('sdk.d.ts'),
    'sdk.jobTypes': () => answer(deps.pageSdk.jobTypes, SDK_MIMES['sdk.d.ts']),
    'sdk.documents': serve('sdk-doc.mjs'),
    'sdk.yjs': serve('sdk-yjs.mjs'),
  };
}
