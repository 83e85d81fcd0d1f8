/** The OpenAPI document is valid, complete and equal to the golden file. `npx vitest run test/contract/openapi.test.ts -u` accepts a change. */

import { Validator } from '@seriousme/openapi-schema-validator';
import openapiTypes, { astToString } from 'openapi-typescript';
import { expect, test } from 'vitest';
import type { Endpoint } from '../../protocol/core/endpoint.ts';
import { wireCodeOf } from '../../protocol/core/errors.ts';
import type { Example } from '../../protocol/core/example.ts';
import { errorCodesOf, openapiDocument } from '../../protocol/core/openapi.ts';
import { EXAMPLES } from '../../protocol/examples.ts';
import { type EndpointId, endpoints } from '../../protocol/table.ts';
import { at, diagnosticsOf } from '../support/compiler.ts';

const document = JSON.parse(JSON.stringify(openapiDocument('http://localhost:8787')));
const table = Object.entries(endpoints) as [EndpointId, Endpoint][];

test('it is valid OpenAPI 3.1', async () => {
  const result = await new Validator().validate(structuredClone(document));
  expect(result.errors ?? []).toEqual([]);
  expect(result.valid).toBe(true);
});

test('it equals the golden file', async () => {
  await expect(`${JSON.stringify(document, null, 2)}\n`).toMatchFileSnapshot('./fixtures/openapi.golden.json');
});

/** Resolves a `$ref` of the document; anything else is returned as it is. */
function resolved(part: typeof document): typeof document {
  if (part.$ref === undefined) return part;
  const names: string[] = part.$ref.slice('#/'.length).split('/');
  return names.reduce((whole, name) => whole[name], document);
}

function operationOf(endpoint: Endpoint): typeof document {
  return document.paths[endpoint.path.replace('*}', '}')][endpoint.method.toLowerCase()];
}

function contentOf(response: typeof document): typeof document {
  return resolved(response).content['application/json'];
}

/** Every literal that a schema of literals allows. */
function literalsOf(schema: typeof document): string[] {
  const { anyOf, enum: literals } = resolved(schema);
  return anyOf === undefined ? [...literals] : anyOf.flatMap(literalsOf);
}

test.each(table)('%s is described in full', (id, endpoint) => {
  const operation = operationOf(endpoint);
  expect(operation.operationId).toBe(id);
  const parameters: { name: string; in: string }[] = (operation.parameters ?? []).map(resolved);
  const inPath = parameters.filter((parameter) => parameter.in === 'path').map(({ name }) => name);
  expect(inPath).toEqual([...endpoint.path.matchAll(/\{(\w+)/g)].map((match) => match[1]));
  for (const { status } of Object.values(endpoint.replies)) expect(operation.responses).toHaveProperty(String(status));
  expect(literalsOf(contentOf(operation.responses.default).schema.allOf[1].properties.code).sort()).toEqual(
    [...new Set(errorCodesOf(endpoint).map(wireCodeOf))].sort(),
  );
  expect(operation.requestBody !== undefined).toBe(endpoint.body !== undefined);
});

test.each(table)('the example of %s matches the schemas of request and reply', (id, endpoint) => {
  const { params, query, body, reply }: Example = EXAMPLES[id];
  endpoint.params?.parse(params);
  endpoint.query?.parse(query ?? {});
  if (endpoint.body?.kind === 'json') endpoint.body.schema.parse(body);
  const [first] = Object.values(endpoint.replies);
  if (reply !== undefined && first !== undefined && 'body' in first) first.body.parse(reply);
  const takes = endpoint.params ?? endpoint.query ?? endpoint.body;
  const shown = [params, query, body, reply].filter((part) => part !== undefined);
  if (takes !== undefined || (first !== undefined && 'body' in first)) expect(shown).not.toEqual([]);
  if (body !== undefined) expect(Object.values<typeof document>(operationOf(endpoint).requestBody.content)[0].example).toEqual(body);
});

test('the groups that a newcomer needs come first', () => {
  const tags = document.tags.map(({ name }: { name: string }) => name);
  expect(tags.slice(0, 2)).toEqual(['publish', 'artifacts']);
  expect(tags.at(-1)).toBe('operations');
  expect(new Set(tags)).toEqual(new Set(table.map(([, { group }]) => group)));
});

test('every component is used, and no named schema is repeated inline', () => {
  const text = JSON.stringify(document);
  for (const kind of ['schemas', 'parameters', 'responses', 'headers'] as const) {
    const unused = Object.keys(document.components[kind]).filter((name) => !text.includes(`"#/components/${kind}/${name}"`));
    expect(unused).toEqual([]);
  }
  const { Comment, Artifact } = document.components.schemas;
  for (const model of [Comment, Artifact]) expect(text.split(JSON.stringify(model)).length).toBe(2);
});

test('the members that all lists have are one model, and an error response of one operation is no component', () => {
  const [shared, own] = contentOf(operationOf(endpoints['jobs.list']).responses['200']).schema.allOf;
  expect(shared).toEqual({ $ref: '#/components/schemas/Page' });
  expect(own.required).toEqual(['jobs']);
  expect(resolved(shared).required).toEqual(['has_more', 'next_cursor']);
  const uses: string[] = JSON.stringify(document.paths).match(/"#\/components\/responses\/\w+Errors(?:-\d+)?"/g) ?? [];
  const once = uses.filter((name) => uses.indexOf(name) === uses.lastIndexOf(name));
  expect(once).toEqual([]);
});

test('it stays small enough to be read as a whole: at most 1500 bytes an operation', () => {
  expect(JSON.stringify(document).length / table.length).toBeLessThan(1500);
});

test('a branded id keeps its pattern', () => {
  const operation = document.paths['/v1/artifacts/{id}'].get;
  expect(resolved(resolved(operation.parameters[0]).schema).pattern).toBe('^art_[a-z0-9]{24}$');
  const { id } = resolved(contentOf(operation.responses['200']).schema).properties;
  expect(resolved(id).pattern).toBe('^art_[a-z0-9]{24}$');
});

test('openapi-typescript generates named models and literal error codes from it', async () => {
  const uses = at('test/contract/uses-of-types.ts');
  const typed = `import type { components, operations } from './made-types.ts';
type Reply<Id extends keyof operations, Status extends keyof operations[Id]['responses']> =
  operations[Id]['responses'][Status] extends { content: { 'application/json': infer Body } } ? Body : never;
export const artifact = (body: Reply<'artifacts.get', 200>): components['schemas']['Artifact'] => body;
export const comment = (body: Reply<'comments.get', 200>): components['schemas']['Comment'] => body.data;
export const body = (body: components['schemas']['PublishRequest']): operations['publish.publish']['requestBody']['content']['application/json'] => body;
type Code<Id extends keyof operations> = Reply<Id, 'default'> extends { code: infer Code } ? Code : never;
type Own<Id extends keyof operations> = Exclude<Code<Id>, components['schemas']['DataCode'] | 'ARTIFACT_SUSPENDED'>;
export const codes = (code: Own<'json.get'>): 'KEY_INVALID' | 'KEY_NOT_FOUND' => code;
export const limited: Code<'json.get'> = 'RATE_LIMITED';
export const wrong = (code: Own<'json.get'>): 'KEY_NOT_FOUND' => code;
export const paged: NonNullable<operations['artifacts.list']['parameters']['query']> = { limit: 5, count: true };
`;
  const made = astToString(await openapiTypes(structuredClone(document)));
  const inMemory = new Map([
    [uses, typed],
    [at('test/contract/made-types.ts'), made],
  ]);
  // The function `wrong` leaves a code out on purpose; the compiler must report this and nothing else.
  expect(diagnosticsOf(inMemory, [uses, at('test/contract/made-types.ts')])).toEqual([
    `${uses}: TS2322 Type '"KEY_INVALID" | "KEY_NOT_FOUND"' is not assignable to type '"KEY_NOT_FOUND"'.   Type '"KEY_INVALID"' is not assignable to type '"KEY_NOT_FOUND"'.`,
  ]);
});
