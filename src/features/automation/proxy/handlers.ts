/** The endpoints of the proxy of a page. */
import { checkConditions } from '../../../../actors/json/json-conditions.ts';
import { Failure } from '../../../../protocol/core/errors.ts';
import type { ArtifactId } from '../../../../protocol/core/ids.ts';
import { bodyEtag } from '../../../edge/answer.ts';
import type { Handlers } from '../../../edge/call.ts';
import { EgressFailure } from '../../../egress/failure.ts';
import type { ReadCache } from '../../../platform/cache.ts';
import { lockRow } from '../../artifacts/artifacts/rows.ts';
import type { ModuleDeps } from '../../module.ts';
import { audit } from '../../workspaces/audit/audit.ts';
import type { ProxyRead, ProxyReading, ProxyWish } from './reading.ts';
import { type ProxySettings, readProxySettings, writeProxySettings } from './rows.ts';
import { etagIn, headersFor, isPassableStatus, NO_HOSTS, refusalOf, typeFor } from './rules.ts';

export interface ProxyDeps extends Pick<ModuleDeps, 'sql' | 'bus'> {
  readonly settings: ReadCache<ArtifactId, ProxySettings>;
  readonly reading: ProxyReading;
}

type Ids = 'proxy.get' | 'proxy.getConfig' | 'proxy.putConfig';

const ACCEPT_CHARS_MAX = 500;

export function proxyHandlers({ sql, bus, settings, reading }: ProxyDeps): Handlers<Ids> {
  return {
    'proxy.get': async ({ params: { artifactId }, query: { url }, accept }) => {
      const found = (await settings.get(artifactId)) ?? NO_HOSTS;
      const usualAccept = accept === '' || accept.length > ACCEPT_CHARS_MAX ? '*/*' : accept;
      const { reply, cached, freshS } = await readOrRefuse(reading, { artifactId, url, accept: usualAccept, settings: found });
      if (!isPassableStatus(reply.status))
        throw new Failure('PROXY_ERROR', { message: `The host answered with the status ${reply.status}.` });
      const etag = etagIn(reply.headers);
      return {
        reply: 'ok',
        status: reply.status,
        body: reply.body,
        type: typeFor(reply.headers),
        headers: headersFor(reply.headers, cached, freshS),
        ...(etag !== undefined && { etag }),
      };
    },
    'proxy.getConfig': async ({ params }) => shown((await settings.get(params.artifactId)) ?? NO_HOSTS),
    'proxy.putConfig': async (call) => {
      const { head, body, nowMs, params } = call;
      const wanted: ProxySettings = { hosts: body.hosts === 'any' ? null : [...new Set(body.hosts)], cacheS: body.cacheS };
      await sql.begin(async (tx) => {
        await lockRow(tx, params.artifactId);
        const before = (await readProxySettings(tx, params.artifactId)) ?? NO_HOSTS;
        checkConditions({ etag: shown(before).etag }, call);
        await writeProxySettings(tx, params.artifactId, wanted, nowMs);
        if (head.workspaceId === null) return;
        const target = { type: 'artifact', id: head.id, name: head.slug };
        await audit(tx, call, { workspaceId: head.workspaceId, action: 'proxy.configure', target, detail: shown(wanted).body.data });
      });
      bus.tell({ kind: 'artifact.changed', artifactId: head.id, slugs: [head.slug] });
      return shown(wanted);
    },
  };
}

async function readOrRefuse(reading: ProxyReading, wish: ProxyWish): Promise<ProxyRead> {
  try {
    return await reading.read(wish);
  } catch (error) {
    throw error instanceof EgressFailure ? refusalOf(error) : error;
  }
}

function shown({ hosts, cacheS }: ProxySettings) {
  const body = { success: true, data: { hosts: hosts === null ? ('any' as const) : [...hosts], cacheS } } as const;
  return { reply: 'ok', body, etag: bodyEtag(body) } as const;
}
