/**
 * Decides whether the text that a comment quotes is still on the page. The check runs when a comment is read, against the version that is
 * live then: a comment is outdated when its quotation is in the text of the version it was written on and not in the live one. Text that a
 * script generates is in neither file, so such a comment is never outdated.
 */
import { LRUCache } from 'lru-cache';
import type { Comment } from '../../../../actors/comments/comment-threads.ts';
import type { VersionId } from '../../../../protocol/core/ids.ts';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import { BoundedMap } from '../../../platform/cache.ts';
import type { ServiceDeps } from '../../deps.ts';
import { squashed, squashedHtml } from './page-text.ts';
import { type PageFileRow, readPageFile } from './rows.ts';

const VERDICTS_MAX = 20_000;
const TEXTS_CHARS_MAX = 24 * 1024 * 1024;
const FILES_MAX = 10_000;

/** Stands for a page without readable text, on which no quotation can be checked. */
const UNREADABLE = { text: null } as const;
type PageText = { readonly text: string | null };

export class Quotes {
  readonly #deps: Pick<ServiceDeps, 'sql' | 'objects' | 'log'>;
  readonly #verdicts = new BoundedMap<string, { readonly outdated: boolean }>(VERDICTS_MAX);
  /** By version and path. Entries never go stale: a version does not change. */
  readonly #files = new BoundedMap<string, PageFileRow | typeof UNREADABLE>(FILES_MAX);
  /** By SHA-256 digest. */
  readonly #texts: LRUCache<string, PageText, PageFileRow>;

  constructor(deps: Pick<ServiceDeps, 'sql' | 'objects' | 'log'>) {
    this.#deps = deps;
    this.#texts = new LRUCache({
      maxSize: TEXTS_CHARS_MAX,
      sizeCalculation: ({ text }) => (text?.length ?? 0) + 100,
      fetchMethod: (_sha256, _stale, { context }) => this.#readText(context),
    });
  }

  /** The ids of the outdated comments. */
  async outdated(live: VersionId | null, comments: readonly Comment[]): Promise<ReadonlySet<string>> {
    const outdated = new Set<string>();
    for (const comment of comments) if (await this.isOutdated(live, comment)) outdated.add(comment.id);
    return outdated;
  }

  async isOutdated(live: VersionId | null, comment: Comment): Promise<boolean> {
    const { quote, versionId, contextId } = comment;
    if (live === null || quote === null || versionId === null || versionId === live) return false;
    const name = `${live} ${comment.id} ${comment.seq}`;
    const known = this.#verdicts.get(name);
    if (known !== undefined) return known.outdated;
    const exact = squashed(quote.exact);
    const outdated = (await this.#has(versionId, contextId, exact)) === true && (await this.#has(live, contextId, exact)) === false;
    this.#verdicts.set(name, { outdated });
    return outdated;
  }

  /** Undefined when the page has no readable text. */
  async #has(versionId: string, contextId: string | null, exact: string): Promise<boolean | undefined> {
    const file = await this.#fileOf(versionId, contextId);
    if (!('sha256' in file)) return undefined;
    const page = await this.#texts.fetch(file.sha256, { context: file });
    return page?.text?.includes(exact);
  }

  /** The file that the context names, else the entry file of the version. */
  async #fileOf(versionId: string, contextId: string | null): Promise<PageFileRow | typeof UNREADABLE> {
    const path = pathOf(contextId);
    const name = `${versionId} ${path}`;
    const known = this.#files.get(name);
    if (known !== undefined) return known;
    const file = (await readPageFile(this.#deps.sql, versionId, path)) ?? UNREADABLE;
    this.#files.set(name, file);
    return file;
  }

  async #readText({ sha256, mime, sizeBytes }: PageFileRow): Promise<PageText> {
    const type = mime.split(';')[0]?.trim().toLowerCase() ?? '';
    if (!type.startsWith('text/') || sizeBytes > LIMITS.quotedTextCharsMax) return UNREADABLE;
    try {
      const source = (await this.#deps.objects.read(sha256)).toString('utf8');
      return { text: type === 'text/html' ? squashedHtml(source) : squashed(source) };
    } catch (err) {
      // The comment can be shown without this check, so the failure goes to the log only.
      this.#deps.log.warn({ err, sha256 }, 'a page could not be read, so quotations on it are not checked');
      return UNREADABLE;
    }
  }
}

/** The file path in a context: without slashes at its ends, query and fragment. */
function pathOf(contextId: string | null): string {
  return (contextId ?? '').split(/[?#]/)[0]?.replace(/^\/+|\/+$/g, '') ?? '';
}
