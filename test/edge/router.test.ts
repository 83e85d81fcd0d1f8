/** The endpoint of a method and path where a literal and a parameter both match, and the names that literals reserve. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { type Endpoint, endpoint } from '../../protocol/core/endpoint.ts';
import { Failure } from '../../protocol/core/errors.ts';
import { idSchema } from '../../protocol/core/ids.ts';
import { reservedNames } from '../../protocol/core/reserved-names.ts';
import { documentName } from '../../protocol/data/documents.ts';
import { jsonKey } from '../../protocol/data/json-keys.ts';
import { tableName } from '../../protocol/data/tables.ts';
import { endpoints } from '../../protocol/table.ts';
import { paramsReader } from '../../src/edge/input.ts';
import { Router } from '../../src/edge/router.ts';

function routerOf(...routes: readonly string[]): Router<string> {
  const router = new Router<string>();
  for (const route of routes) {
    const [method = '', path = ''] = route.split(' ');
    router.add(method, path, route);
  }
  return router;
}

describe('router', () => {
  const router = routerOf(
    'GET /v1/a/literal/x',
    'GET /v1/a/{p}/y',
    'PUT /v1/a/{p}/x',
    'DELETE /v1/a/literal/x',
    'GET /v1/b/literal',
    'GET /v1/b/{p}',
    'PATCH /v1/b/{p}',
    'GET /v1/c/literal/{q}/end',
    'GET /v1/c/{p}/{q}/{r}',
    'GET /v1/d/literal/x',
    'GET /v1/d/{rest*}',
  );

  test.each([
    ['GET', '/v1/a/literal/x', 'GET /v1/a/literal/x', []],
    ['HEAD', '/v1/a/literal/x', 'GET /v1/a/literal/x', []],
    ['GET', '/v1/a/literal/y', 'GET /v1/a/{p}/y', ['literal']],
    ['PUT', '/v1/a/literal/x', 'PUT /v1/a/{p}/x', ['literal']],
    ['GET', '/v1/b/literal', 'GET /v1/b/literal', []],
    ['PATCH', '/v1/b/literal', 'PATCH /v1/b/{p}', ['literal']],
    ['GET', '/v1/c/literal/1/end', 'GET /v1/c/literal/{q}/end', ['1']],
    ['GET', '/v1/c/literal/1/other', 'GET /v1/c/{p}/{q}/{r}', ['literal', '1', 'other']],
    ['GET', '/v1/d/literal/x', 'GET /v1/d/literal/x', []],
    ['GET', '/v1/d/literal/y/z', 'GET /v1/d/{rest*}', ['literal/y/z']],
    ['GET', '/v1/d/other', 'GET /v1/d/{rest*}', ['other']],
    ['GET', '/v1/b/', 'GET /v1/b/{p}', ['']],
  ])('%s %s leads to %s', (method, path, operation, values) => {
    expect(router.find(method, path)).toEqual({ kind: 'routed', operation, values });
  });

  test('a wrong method gets every method of the path in Allow, whatever the endpoint', () => {
    expect(router.find('POST', '/v1/a/literal/x')).toEqual({ kind: 'wrong_method', allow: 'GET, HEAD, DELETE, PUT' });
    expect(router.find('POST', '/v1/a/other/x')).toEqual({ kind: 'wrong_method', allow: 'PUT' });
    expect(router.find('DELETE', '/v1/b/literal')).toEqual({ kind: 'wrong_method', allow: 'GET, HEAD, PATCH' });
  });

  test('a parameter that cannot be the literal is no alternative to it', () => {
    const typed = new Router<string>((_operation, values) => values.every((value) => value.startsWith('id_')));
    for (const path of ['/v1/rows/all', '/v1/rows/{row}', '/v1/rows/{row}/undo'])
      typed.add(path.includes('all') ? 'GET' : 'DELETE', path, path);
    expect(typed.find('DELETE', '/v1/rows/all')).toEqual({ kind: 'wrong_method', allow: 'GET, HEAD' });
    expect(typed.find('DELETE', '/v1/rows/all/undo')).toEqual({ kind: 'unknown' });
    expect(typed.find('DELETE', '/v1/rows/id_1/undo')).toMatchObject({ kind: 'routed', values: ['id_1'] });
    // Without a literal in its place, its own endpoint refuses it.
    expect(typed.find('DELETE', '/v1/rows/other')).toMatchObject({ kind: 'routed', values: ['other'] });
    expect(typed.find('GET', '/v1/rows/other')).toEqual({ kind: 'wrong_method', allow: 'DELETE' });
  });

  test.each(['/v1/a/literal', '/v1/a/literal/x/y', '/v1/a', '/v1', '/', '/v1/c/literal/1'])('%s is unknown', (path) => {
    expect(router.find('GET', path)).toEqual({ kind: 'unknown' });
  });

  test('finds what a plain search through all routes finds', () => {
    const segment = fc.constantFrom('a', 'b', '{p}');
    const asked = fc.array(fc.constantFrom('a', 'b', 'c'), { minLength: 1, maxLength: 4 });
    const route = fc.record({
      method: fc.constantFrom('GET', 'PUT'),
      segments: fc.array(segment, { minLength: 1, maxLength: 4 }),
      isRest: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(route, { maxLength: 12 }), asked, (routes, path) => {
        const written = routes.map(({ method, segments, isRest }) => `${method} /${[...segments, ...(isRest ? ['{r*}'] : [])].join('/')}`);
        const unique = [...new Set(written)];
        const found = routerOf(...unique).find('GET', `/${path.join('/')}`);
        const fitting = unique.filter((one) => fits(one.split(' ')[1] ?? '', path));
        const best = fitting.filter((one) => one.startsWith('GET')).sort((one, other) => (rank(one) < rank(other) ? -1 : 1))[0];
        expect(found.kind).toBe(best !== undefined ? 'routed' : fitting.length > 0 ? 'wrong_method' : 'unknown');
        if (found.kind === 'routed') expect(found.operation).toBe(best);
      }),
      { seed: 1 },
    );
  });
});

function fits(route: string, path: readonly string[]): boolean {
  const segments = route.split('/').slice(1);
  const isRest = segments.at(-1) === '{r*}';
  if (isRest ? path.length < segments.length : path.length !== segments.length) return false;
  return segments.every((segment, at) => segment.startsWith('{') || segment === path[at]);
}

/** Compares routes by preference: at the first difference a literal, then a parameter, then the rest. */
function rank(route: string): string {
  return route.replaceAll(/\{p\}/g, '~').replaceAll('{r*}', '~~').split(' ')[1] ?? '';
}

describe('reserved names', () => {
  const workspace = z.union([idSchema('artifact'), z.string().regex(/^[a-z][a-z-]*$/)]);
  const params = z.object({ w: workspace });
  const of = (method: Endpoint['method'], path: string, given?: z.ZodObject): Endpoint =>
    endpoint({
      method,
      path,
      group: 'test',
      summary: '',
      access: { who: 'anyone' },
      limit: 'none',
      ...(given && { params: given }),
      replies: {},
      errors: [],
    });
  const table = {
    one: of('GET', '/v1/workspaces/{w}', params),
    put: of('PUT', '/v1/workspaces/{w}', params),
    members: of('GET', '/v1/workspaces/{w}/members', params),
    invitations: of('GET', '/v1/workspaces/invitations'),
    create: of('POST', '/v1/workspaces/create'),
    joined: of('GET', '/v1/workspaces/joined/{how}', z.object({ how: z.string() })),
    odd: of('GET', '/v1/workspaces/_odd'),
    elsewhere: of('GET', '/v1/folders/invitations'),
  };

  test('are those that a literal of the same method hides', () => {
    // `joined` hides the members of a workspace of that name; `create` is a POST, which no workspace answers; `_odd` is no name of one.
    expect([...reservedNames(table, workspace)].sort()).toEqual(['invitations', 'joined']);
  });

  test('are refused where a path chooses the name, with the code of the name', () => {
    const read = paramsReader(table.put, table);
    expect(read(['mine'])).toEqual({ w: 'mine' });
    expect(() => read(['invitations'])).toThrow(Failure);
    const key = z.object({ key: jsonKey });
    const keys = { put: of('PUT', '/v1/keys/{key}', key), get: of('GET', '/v1/keys/{key}', key), all: of('GET', '/v1/keys/all') };
    const refusal = (text: string) => {
      try {
        paramsReader(keys.put, keys)([text]);
        return undefined;
      } catch (error) {
        return error instanceof Failure ? [error.code, error.details.param] : error;
      }
    };
    expect([refusal('all'), refusal('%61ll'), refusal('some')]).toEqual([['KEY_INVALID', 'key'], ['KEY_INVALID', 'key'], undefined]);
    // A resource that already has the name can still be read and deleted.
    expect(paramsReader(keys.get, keys)(['all'])).toEqual({ key: 'all' });
  });

  test.each([
    ['tables', tableName],
    ['documents', documentName],
    ['keys', jsonKey],
  ])('there are none among the names of %s, of which callers have many already', (_things, schema) => {
    expect([...reservedNames(endpoints, schema)]).toEqual([]);
  });
});
