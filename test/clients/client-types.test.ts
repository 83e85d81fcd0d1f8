/** The types of clients and handlers scale with the endpoint table: everything still compiles with 150 more endpoints, also the app's calls. */
import ts from 'typescript';
import { expect, test } from 'vitest';
import { at, diagnosticsOf } from '../support/compiler.ts';

const ADDED = 150;

/** Realistic endpoints: two parameters, a query, a body and two replies each. */
function addedEndpoints(): string {
  const entries = Array.from(
    { length: ADDED },
    (_, index) => `  'added${index % 10}.made${index}': endpoint({
    method: 'POST', path: '/v1/added/${index}/{id}/{other}', group: 'added', summary: 'Made for a test.',
    access: { who: 'artifact', param: 'id', need: 'view', scope: 'artifacts:read' }, limit: 'none',
    params: z.object({ id: idSchema('artifact'), other: z.string() }),
    query: z.object({ ...pageQuery, kind: z.enum(['a${index}', 'b']) }),
    body: { kind: 'json', bytesMax: 100, schema: z.strictObject({ name${index}: nameSchema, artifact: artifact.partial(), tags: z.array(z.string()) }) },
    replies: {
      ok: { status: 200, body: artifact.extend({ extra${index}: z.number() }) },
      created: { status: 201, body: z.object({ artifacts: z.array(artifact), ...pageReply }) },
    },
    errors: ['VERSION_CONFLICT'],
  }),`,
  );
  return `import { z } from 'zod';
import { artifact } from './artifacts/artifacts.ts';
import { endpoint } from './core/endpoint.ts';
import { nameSchema, pageQuery, pageReply } from './core/fields.ts';
import { idSchema } from './core/ids.ts';
export const added = {\n${entries.join('\n')}\n} as const;\n`;
}

/** Calls and handlers for the added endpoints, followed by the code in `mistake`. */
function uses(mistake: string): string {
  const calls = Array.from(
    { length: ADDED },
    (_, index) => `  const reply${index} = await client.added${index % 10}.made${index}({
    params: { id, other: 'x' }, query: { kind: 'a${index}', limit: 5 }, body: { name${index}: 'n', artifact: {}, tags: [] },
  });
  if (reply${index}.status === 200) reply${index}.body.extra${index} satisfies number;`,
  );
  return `import type { Client } from '../../src/clients/sdk/client.ts';
import type { ArtifactId } from '../../protocol/core/ids.ts';
import type { EndpointId } from '../../protocol/table.ts';
import type { Handlers } from '../../src/edge/call.ts';
export async function calls(client: Client, id: ArtifactId) {\n${calls.join('\n')}\n}
export const handlers: Pick<Handlers, 'added7.made7' | 'added8.made148'> = {
  'added7.made7': async ({ body, query }) => ({ reply: 'created', body: { artifacts: [], has_more: query.limit > body.tags.length, next_cursor: null } }),
  'added8.made148': ({ body: { name148 } }) => { throw new Error(name148); },
};
export const everyId = (handlers: Handlers): readonly EndpointId[] => Object.keys(handlers) as EndpointId[];
${mistake}`;
}

function textOf(path: string): string {
  return ts.sys.readFile(at(path)) ?? expect.fail(`no ${path}`);
}

function diagnosticsWith(mistake: string): readonly string[] {
  const table = textOf('protocol/table.ts')
    .replace('import { artifacts }', "import { added } from './added.ts';\nimport { artifacts }")
    .replace('  ...accounts,\n', '  ...accounts,\n  ...added,\n');
  const callLines = Array.from(
    { length: ADDED },
    (_, index) => `  'added${index % 10}.made${index}': 'POST /v1/added/${index}/{id}/{other}',\n`,
  );
  const calls = textOf('src/clients/web/api/calls.ts').replace(
    '} as const satisfies Table',
    `${callLines.join('')}} as const satisfies Table`,
  );
  const user = at('test/clients/uses-of-added.ts');
  const inMemory = new Map([
    [at('protocol/table.ts'), table],
    [at('protocol/added.ts'), addedEndpoints()],
    [at('src/clients/web/api/calls.ts'), calls],
    [user, uses(mistake)],
  ]);
  const affected = [
    ...['src/clients/sdk/client.ts', 'src/clients/web/api/client.ts', 'src/clients/web/api/calls.ts', 'src/edge/call.ts'],
    ...['src/edge/operation.ts', 'src/clients/cli/artifacts.ts'],
  ].map(at);
  return diagnosticsOf(inMemory, [user, at('protocol/table.ts'), at('protocol/added.ts'), ...affected]);
}

test(`client, the app's calls and handlers compile with ${ADDED} more endpoints`, { timeout: 240_000 }, () => {
  const mistake = `export const wrong = (client: Client, id: ArtifactId) => client.added3.made3({ params: { id, other: 1 }, query: { kind: 'a3' }, body: { name3: 'n', artifact: {}, tags: [] } });`;
  // The deliberate mistake is the only error found.
  expect(diagnosticsWith(mistake)).toEqual([
    `${at('test/clients/uses-of-added.ts')}: TS2322 Type 'number' is not assignable to type 'string'.`,
  ]);
});
