/** The OpenAPI document: valid, complete, and what was last agreed. `npx vitest run test/contract/openapi.test.ts -u` accepts a change. */
import { Validator } from '@seriousme/openapi-schema-validator';
import { expect, test } from 'vitest';
import type { Endpoint } from '../../protocol/endpoint.ts';
import { ERRORS } from '../../protocol/errors.ts';
import { errorCodesOf, openapiDocument } from '../../protocol/openapi.ts';
import { endpoints } from '../../protocol/table.ts';

const document = JSON.parse(JSON.stringify(openapiDocument('http://localhost:8787')));
const table = Object.entries(endpoints) as [string, Endpoint][];

test('it is valid OpenAPI 3.1', async () => {
  const result = await new Validator().validate(structuredClone(document));
  expect(result.errors ?? []).toEqual([]);
  expect(result.valid).toBe(true);
});

test('it is what was agreed', async () => {
  await expect(`${JSON.stringify(document, null, 2)}\n`).toMatchFileSnapshot('./fixtures/openapi.golden.json');
});

test.each(table)('%s is described in full', (id, endpoint) => {
  const operation = document.paths[endpoint.path.replace('*}', '}')][endpoint.method.toLowerCase()];
  expect(operation.operationId).toBe(id);
  const inPath = operation.parameters
    .filter((parameter: { in: string }) => parameter.in === 'path')
    .map((parameter: { name: string }) => parameter.name);
  expect(inPath).toEqual([...endpoint.path.matchAll(/\{(\w+)/g)].map((match) => match[1]));
  for (const { status } of Object.values(endpoint.replies)) expect(operation.responses).toHaveProperty(String(status));
  for (const code of errorCodesOf(endpoint)) {
    const response = operation.responses[ERRORS[code].status];
    expect(response.content['application/json'].schema.allOf[1].properties.code.enum).toContain(code);
  }
  expect(operation.requestBody !== undefined).toBe(endpoint.body !== undefined);
});

test('a branded id keeps its pattern, so that nothing was lost on the way', () => {
  const [id] = document.paths['/v1/artifacts/{id}'].get.parameters;
  expect(id.schema.pattern).toBe('^art_[a-z0-9]{24}$');
  expect(document.paths['/v1/artifacts/{id}'].get.responses['200'].content['application/json'].schema.properties.id.pattern).toBe(
    '^art_[a-z0-9]{24}$',
  );
});
