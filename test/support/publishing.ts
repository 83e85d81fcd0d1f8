/** Publishes folders and files through the API, as users do. */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { type Client, createClient } from '../../src/clients/sdk/client.ts';

/** Contents by path, with forward slashes. */
export type Site = ReadonlyMap<string, Buffer>;

/** The demo of reveal.js with its plug-ins, themes and fonts, as its npm package has it. */
export function revealDemo(): Map<string, Buffer> {
  const root = join(import.meta.dirname, '../../node_modules/reveal.js');
  const files = readdirSync(join(root, 'dist'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
  files.push(join(root, 'demo.html'), join(root, 'index.html'), join(root, 'LICENSE'));
  return new Map(files.map((file) => [relative(root, file).split(sep).join('/'), readFileSync(file)]));
}

export function clientOf(easel: { readonly baseUrl: string }, token: string): Client {
  return createClient({ baseUrl: easel.baseUrl, token });
}

export interface Publication {
  readonly artifactId: string;
  readonly versionId: string;
  readonly url: string;
  /** Files that had to be sent. */
  readonly sent: number;
}

/** Publishes in two phases, which sends only files that the service does not have. */
export async function publishSite(
  client: Client,
  site: Site,
  target: {
    readonly slug?: string;
    readonly artifact_id?: string;
    readonly name?: string;
    readonly entrypoint?: string;
    readonly visibility?: 'public' | 'private' | 'password';
    readonly password?: string;
    readonly draft?: boolean;
  },
): Promise<Publication> {
  const byDigest = new Map<string, Buffer>();
  const files_digest = [...site].map(([path, bytes]) => {
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    byDigest.set(sha256, bytes);
    return { path, sha256 };
  });
  const begun = await client.publish.publish({ body: { ...target, files_digest } });
  if (!('missing' in begun.body)) throw new Error('the first phase answered with a publication');
  const { missing, upload_id } = begun.body;
  for (const sha256 of missing) {
    const body = byDigest.get(sha256);
    if (body === undefined) throw new Error(`${sha256} was asked for but never offered`);
    await client.publish.upload({ params: { upload_id, sha256 }, body });
  }
  const done = await client.publish.publish({ body: { ...target, files_digest, upload_id } });
  if (!('artifact' in done.body)) throw new Error('the second phase asked for more');
  const { artifact, version, deployment } = done.body;
  return { artifactId: artifact.id, versionId: version.id, url: deployment.url, sent: missing.length };
}
