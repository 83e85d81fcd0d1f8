/** Queues of pictures beside a service, with a browser that draws whatever a test says. */
import { createHash } from 'node:crypto';
import type { ArtifactId } from '../../../../protocol/core/ids.ts';
import { ThumbnailQueue } from '../../../../src/features/artifacts/thumbnails/queue.ts';
import type { PageToDraw, Renderer } from '../../../../src/features/artifacts/thumbnails/renderer.ts';
import { ThumbnailWishes } from '../../../../src/features/artifacts/thumbnails/wishes.ts';
import { fileObjects } from '../../../../src/storage/file-objects.ts';
import { SILENT, temporaryDir } from '../../../support/database.ts';
import type { TestEasel } from '../../../support/easel.ts';

/** The smallest file that has the form of a WebP picture. */
export function pictureOf(text: string): Buffer {
  return Buffer.concat([Buffer.from('RIFF\0\0\0\0WEBPVP8 ', 'latin1'), Buffer.from(text)]);
}

/** A picture that comes when the test says so. */
export function laterPicture() {
  let resolve: (picture: Buffer) => void = () => undefined;
  const promise = new Promise<Buffer>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}

export class FakeRenderer implements Renderer {
  usable = true;
  /** Slugs of the pages in the order in which they were drawn. */
  readonly drawn: string[] = [];
  draws: (slug: string, signal: AbortSignal) => Buffer | Promise<Buffer> = pictureOf;

  isUsable(): boolean {
    return this.usable;
  }

  async draw({ origin }: PageToDraw, signal: AbortSignal): Promise<Buffer> {
    const slug = new URL(origin).hostname.split('.')[0] ?? '';
    this.drawn.push(slug);
    return this.draws(slug, signal);
  }
}

export class PictureStage {
  readonly easel: TestEasel;
  readonly #folder = temporaryDir();
  readonly #queues: ThumbnailQueue[] = [];

  constructor(easel: TestEasel) {
    this.easel = easel;
  }

  async node(renderer = new FakeRenderer()) {
    const { sql, clock } = this.easel;
    const objects = fileObjects(this.#folder.path);
    await objects.ready();
    const wishes = new ThumbnailWishes();
    const config = { baseUrl: this.easel.baseUrl, contentHost: 'pages.example' };
    const content = { pictured: () => ({ status: 404, headers: [], body: null }) };
    const queue = new ThumbnailQueue({ sql, clock, log: SILENT, objects, config, renderer, wishes, content });
    this.#queues.push(queue);
    const ask = async (ids: readonly string[]) => {
      wishes.add(ids as ArtifactId[]);
      await queue.idle();
    };
    return { renderer, objects, queue, ask };
  }

  async rows(ids: readonly string[]) {
    return this.easel.sql<{ id: string; version: string; attempts: number; dueAtMs: number | null; sha256: string | null }[]>`
      select artifact_id as id, version_id as version, attempts, due_at_ms as "dueAtMs", encode(sha256, 'hex') as sha256
      from thumbnail where artifact_id = any(${[...ids]}) order by array_position(${[...ids]}::text[], artifact_id)`;
  }

  async close(): Promise<void> {
    for (const queue of this.#queues) await queue.stop();
    this.#folder.remove();
  }
}

export function digestOf(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}
