/** The proxy of a page: reads of other hosts, which a browser would not let the page make itself. Source: spec.md "Limits", contract.md §6, §15. */
import { z } from 'zod';
import { endpoint } from '../core/endpoint.ts';
import { idSchema } from '../core/ids.ts';
import { LIMITS } from '../core/limits.ts';
import { changesTo } from '../core/round-trip.ts';
import { enveloped } from '../data/json-keys.ts';

const hostPattern = z
  .string()
  .max(255)
  .toLowerCase()
  .regex(
    /^(?:\*\.)?[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*$/,
    'must be the name of a host such as api.example.com, or *.example.com for all below it, without a scheme, a port or a path',
  );

export const proxyConfig = z.object({
  hosts: z
    .union([z.literal('any'), z.array(z.string())])
    .meta({ description: 'that the page may read; *.example.com means all below it; any means every host of the public internet' }),
  cacheS: z.number().int().meta({ description: 'seconds for which an answer is kept that does not say itself how long it is fresh' }),
});

export const proxyConfigUpdate = changesTo(proxyConfig, {
  hosts: z.union([z.literal('any'), z.array(hostPattern).max(LIMITS.proxyHostsMax)], {
    error: `must be "any" or a list of at most ${LIMITS.proxyHostsMax} names of hosts`,
  }),
  cacheS: z.number().int().min(0).max(LIMITS.proxyCacheSMax).default(0),
});

const params = z.object({ artifactId: idSchema('artifact') });
const read = { who: 'artifact', param: 'artifactId', need: 'data:read', scope: 'data:read' } as const;
const edit = { who: 'artifact', param: 'artifactId', need: 'edit', scope: 'artifacts:publish' } as const;

export const proxying = {
  'proxy.get': endpoint({
    method: 'GET',
    path: '/v1/data/{artifactId}/proxy',
    group: 'proxy',
    summary: "What a host outside answers to a GET, for hosts that the page's settings allow. X-Proxy-Cache says where it came from.",
    access: read,
    limit: 'proxy',
    actor: 'artifactId',
    params,
    query: z.object({
      url: z
        .string()
        .max(LIMITS.egressUrlCharsMax)
        .refine((text) => /^https?:[/][/]/i.test(text) && URL.canParse(text), 'must be a URL that begins with http:// or https://')
        .meta({ description: 'of http or https; encode it, so that its own query stays part of it' }),
    }),
    replies: {
      ok: { status: 200, media: '*/*', anyStatus: true, description: 'Status, type and validators are those of the host.' },
    },
    errors: ['HOST_NOT_ALLOWED', 'BLOCKED_DESTINATION', 'PROXY_ERROR', 'UNAVAILABLE'],
  }),
  'proxy.getConfig': endpoint({
    method: 'GET',
    path: '/v1/data/{artifactId}/proxy/config',
    group: 'proxy',
    summary: 'Reads which hosts the page may read through the proxy.',
    access: edit,
    limit: 'data',
    actor: 'artifactId',
    params,
    conditional: true,
    replies: { ok: { status: 200, body: enveloped(proxyConfig) } },
    errors: [],
  }),
  'proxy.putConfig': endpoint({
    method: 'PUT',
    path: '/v1/data/{artifactId}/proxy/config',
    group: 'proxy',
    summary: 'Sets which hosts the page may read through the proxy. Without settings it may read none.',
    access: edit,
    limit: 'data',
    actor: 'artifactId',
    params,
    conditional: true,
    resource: 'proxy.getConfig',
    body: { kind: 'json', schema: proxyConfigUpdate, bytesMax: LIMITS.bodyBytesMax },
    replies: { ok: { status: 200, body: enveloped(proxyConfig) } },
    errors: ['VERSION_CONFLICT'],
  }),
} as const;
