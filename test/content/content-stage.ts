/** A content server on a real database and object store, with sites put there directly and a clock that the test moves. */
import { createHash } from 'node:crypto';
import { onTestFinished } from 'vitest';
import { type ArtifactId, newId, type VersionId } from '../../protocol/core/ids.ts';
import { PageSdk } from '../../src/content/page-sdk.ts';
import { type ContentDeps, ContentServer } from '../../src/content/server.ts';
import type { ContentReply } from '../../src/content/types.ts';
import { MemoryLimiter } from '../../src/edge/memory-limiter.ts';
import { LocalBus } from '../../src/platform/bus.ts';
import { deriveConfig, parseSettings } from '../../src/platform/config.ts';
import { fileObjects } from '../../src/storage/file-objects.ts';
import type { ObjectStore } from '../../src/storage/objects.ts';
import { SharedLimiter } from '../../src/storage/shared-limiter.ts';
import { builtPageSdk, openTestDatabase, SILENT, type TestDatabase, temporaryDir } from '../support/database.ts';
import { VirtualClock } from '../support/virtual-clock.ts';

export type SiteFiles = Readonly<Record<string, string | Buffer | { readonly mime: string; readonly bytes: string | Buffer }>>;

export interface SiteOptions {
  readonly visibility?: 'public' | 'private' | 'password' | 'workspace';
  readonly passwordHash?: string;
  readonly entrypoint?: string;
  readonly social?: { readonly title?: string; readonly description?: string; readonly imageUrl?: string };
  readonly name?: string;
}

export interface Answer {
  readonly status: number;
  readonly body: Buffer;
  readonly text: string;
  header(name: string): string | undefined;
  readonly reply: ContentReply | Promise<ContentReply>;
}

export interface AskOptions {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly form?: Readonly<Record<string, string>>;
  readonly address?: string;
}

const MIMES: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  txt: 'text/plain; charset=utf-8',
  png: 'image/png',
};

/** Nobody is signed in: test/features/artifacts/viewing tests that on the whole service. */
const NOBODY: Pick<ContentDeps, 'heads' | 'signIns'> = {
  heads: { get: async () => null },
  signIns: { redeem: async () => null, find: () => null },
};

export class Stage {
  readonly clock = new VirtualClock();
  readonly bus = new LocalBus(SILENT);
  readonly database: TestDatabase;
  readonly content: ContentServer;
  /** The views that were noted. */
  readonly viewed: { readonly artifactId: ArtifactId; readonly address: string }[] = [];
  readonly objects: ObjectStore;
  readonly #folder = temporaryDir();

  private constructor(database: TestDatabase, baseUrl: string, callers: typeof NOBODY) {
    this.database = database;
    this.objects = fileObjects(this.#folder.path);
    const settings = parseSettings({ BASE_URL: baseUrl, CONTENT_HOST: 'pages.test' });
    this.content = new ContentServer({
      sql: database.sql,
      clock: this.clock,
      objects: this.objects,
      bus: this.bus,
      config: deriveConfig(settings, 8787),
      log: SILENT,
      pageSdk: new PageSdk(builtPageSdk()),
      ...callers,
      receipts: { note: () => undefined },
      views: { note: (artifactId, { address }) => this.viewed.push({ artifactId, address }) },
      limiters: { memory: new MemoryLimiter(this.clock), shared: new SharedLimiter({ sql: database.sql, clock: this.clock }) },
    });
  }

  static async open(baseUrl = 'http://api.test', callers = NOBODY): Promise<Stage> {
    const stage = new Stage(await openTestDatabase(), baseUrl, callers);
    await stage.objects.ready();
    return stage;
  }

  async close(): Promise<void> {
    await this.content.close();
    await this.database.close();
    this.#folder.remove();
  }

  /** A second server on the same storage with empty caches and a bus of its own, as after a restart. */
  restarted(): ContentServer {
    const config = deriveConfig(parseSettings({ BASE_URL: 'http://api.test', CONTENT_HOST: 'pages.test' }), 8787);
    const server = new ContentServer({
      sql: this.database.sql,
      clock: this.clock,
      objects: this.objects,
      bus: new LocalBus(SILENT),
      config,
      log: SILENT,
      pageSdk: new PageSdk(builtPageSdk()),
      ...NOBODY,
      receipts: { note: () => undefined },
      views: { note: (artifactId, { address }) => this.viewed.push({ artifactId, address }) },
      limiters: { memory: new MemoryLimiter(this.clock), shared: new SharedLimiter({ sql: this.database.sql, clock: this.clock }) },
    });
    onTestFinished(() => server.close());
    return server;
  }

  async site(slug: string, files: SiteFiles, options: SiteOptions = {}): Promise<{ id: ArtifactId; versionId: VersionId }> {
    const id = newId('artifact');
    const nowMs = this.clock.nowMs();
    const { title = null, description = null, imageUrl = null } = options.social ?? {};
    await this.database.sql`
      insert into artifact (id, name, slug, visibility, password_hash, social_title, social_description, social_image_url,
        created_at_ms, updated_at_ms)
      values (${id}, ${options.name ?? slug}, ${slug}, ${options.visibility ?? 'public'}, ${options.passwordHash ?? null},
        ${title}, ${description}, ${imageUrl}, ${nowMs}, ${nowMs})`;
    const versionId = await this.version(id, slug, files, options.entrypoint);
    await this.change(id, slug, { live_version_id: versionId });
    return { id, versionId };
  }

  async version(artifactId: ArtifactId, slug: string, files: SiteFiles, entrypoint = 'index.html'): Promise<VersionId> {
    const { sql } = this.database;
    const id = newId('version');
    const stored = Object.entries(files).map(([path, file]) => {
      const given = typeof file === 'string' || Buffer.isBuffer(file) ? { bytes: file, mime: undefined } : file;
      const bytes = Buffer.from(given.bytes);
      const mime = given.mime ?? MIMES[path.slice(path.lastIndexOf('.') + 1)] ?? 'application/octet-stream';
      return { path: path.normalize('NFC'), bytes, mime, sha256: createHash('sha256').update(bytes).digest() };
    });
    await sql`
      insert into artifact_version (id, artifact_id, version_no, entrypoint, size_bytes, created_at_ms)
      select ${id}, ${artifactId}, coalesce(max(version_no), 0) + 1, ${entrypoint}, 0, 0
      from artifact_version where artifact_id = ${artifactId}`;
    for (const { sha256, bytes } of stored) {
      await this.objects.put(sha256.toString('hex'), bytes);
      await sql`insert into stored_object (sha256, size_bytes, stored_at_ms) values (${sha256}, ${bytes.length}, 0) on conflict do nothing`;
    }
    await sql`insert into version_file ${sql(
      stored.map(({ path, sha256, mime, bytes }) => ({ version_id: id, path, sha256, mime, size_bytes: bytes.length })),
    )}`;
    this.bus.tell({ artifactId, slugs: [slug], kind: 'artifact.changed' });
    return id;
  }

  async change(id: ArtifactId, slug: string, columns: Readonly<Record<string, string | number | null>>): Promise<void> {
    await this.database.sql`update artifact set ${this.database.sql(columns)} where id = ${id}`;
    this.bus.tell({ artifactId: id, slugs: [slug], kind: 'artifact.changed' });
  }

  /** `target`: path and query as on the wire. */
  async ask(slug: string, target: string, options: AskOptions = {}, server = this.content): Promise<Answer> {
    const [path = '', ...rest] = target.split('?');
    const form = options.form;
    const reply = server.handle({
      method: options.method ?? 'GET',
      slug,
      path,
      query: rest.join('?'),
      address: options.address ?? '192.0.2.1',
      header: (name) => options.headers?.[name] ?? '',
      ...(form ? { body: async () => Buffer.from(new URLSearchParams(form).toString()) } : {}),
    });
    const { status, headers, body } = await reply;
    const bytes = Buffer.from(body ?? '');
    return {
      status,
      body: bytes,
      text: bytes.toString('utf8'),
      header: (name) => headers.find(([known]) => known.toLowerCase() === name.toLowerCase())?.[1],
      reply,
    };
  }
}

/** The Cookie header for the next request, from the Set-Cookie of an answer. */
export function cookieOf(answer: Answer): string {
  return (answer.header('set-cookie') ?? '').split(';')[0] ?? '';
}
