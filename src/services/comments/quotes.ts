/**
 * Whether what a comment quotes is still on the page. Worked out when a comment is read, for the version that is live then: a comment is
 * outdated where its quotation is in the text of the version that was looked at and not in that of the live one. Text that only a script
 * makes is in neither, so nothing is said of it.
 */
import { LRUCache } from 'lru-cache';
import type { Comment } from '../../../actors/comment-threads.ts';
import type { VersionId } from '../../../protocol/ids.ts';
import { LIMITS } from '../../../protocol/limits.ts';
import { BoundedMap } from '../../cache.ts';
import type { ServiceDeps } from '../deps.ts';
import { squashed, squashedHtml } from './page-text.ts';

const VERDICTS_MAX = 20_000;
const TEXTS_CHARS_MAX = 24 * 1024 * 1024;
const FILES_MAX = 10_000;

interface PageFile {
  readonly sha256: string;
  readonly mime: string;
  readonly sizeBytes: number;
}

/** What no file has: nothing is found in it, and nothing is said. */
const UNREADABLE = { text: null } as const;
type PageText = { readonly text: string | null };

export class Quotes {
  readonly #deps: Pick<ServiceDeps, 'sql' | 'objects' | 'log'>;
  readonly #verdicts = new BoundedMap<string, { readonly outdated: boolean }>(VERDICTS_MAX);
  /** By version and page. A version never changes. */
  readonly #files = new BoundedMap<string, PageFile | typeof UNREADABLE>(FILES_MAX);
  /** By digest. */
  readonly #texts: LRUCache<string, PageText, PageFile>;

  constructor(deps: Pick<ServiceDeps, 'sql' | 'objects' | 'log'>) {
    this.#deps = deps;
    this.#texts = new LRUCache({
      maxSize: TEXTS_CHARS_MAX,
      sizeCalculation: ({ text }) => (text?.length ?? 0) + 100,
      fetchMethod: (_sha256, _stale, { context }) => this.#readText(context),
    });
  }

  /** Those of the comments that are outdated, by id. */
  async outdated(live: VersionId | null, comments: readonly Comment[]): Promise<ReadonlySet<string>> {
    const gone = new Set<string>();
    for (const comment of comments) if (await this.isOutdated(live, comment)) gone.add(comment.id);
    return gone;
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

  /** Undefined where the page has no text that could be looked through. */
  async #has(versionId: string, contextId: string | null, exact: string): Promise<boolean | undefined> {
    const file = await this.#fileOf(versionId, contextId);
    if (!('sha256' in file)) return undefined;
    const page = await this.#texts.fetch(file.sha256, { context: file });
    return page?.text?.includes(exact);
  }

  /** The file that a context names, else the entry file of the version. */
  async #fileOf(versionId: string, contextId: string | null): Promise<PageFile | typeof UNREADABLE> {
    const path = pathOf(contextId);
    const name = `${versionId} ${path}`;
    const known = this.#files.get(name);
    if (known !== undefined) return known;
    const [file = UNREADABLE] = await this.#deps.sql<PageFile[]>`
      select encode(f.sha256, 'hex') as sha256, f.mime, f.size_bytes as "sizeBytes"
      from artifact_version v join version_file f on f.version_id = v.id
      where v.id = ${versionId} and f.path in (${path}, ${`${path}/index.html`}, v.entrypoint)
      order by f.path = v.entrypoint, f.path = ${path} desc limit 1`;
    this.#files.set(name, file);
    return file;
  }

  async #readText({ sha256, mime, sizeBytes }: PageFile): Promise<PageText> {
    const type = mime.split(';')[0]?.trim().toLowerCase() ?? '';
    if (!type.startsWith('text/') || sizeBytes > LIMITS.quotedTextCharsMax) return UNREADABLE;
    try {
      const source = (await this.#deps.objects.read(sha256)).toString('utf8');
      return { text: type === 'text/html' ? squashedHtml(source) : squashed(source) };
    } catch (err) {
      // The comment is still worth reading; that its place cannot be checked is for operations to know.
      this.#deps.log.warn({ err, sha256 }, 'a page could not be read to look for quotations');
      return UNREADABLE;
    }
  }
}

/** The path of a file as a context may name it: with or without a slash before or behind it, a query or a fragment. */
function pathOf(contextId: string | null): string {
  return (contextId ?? '').split(/[?#]/)[0]?.replace(/^\/+|\/+$/g, '') ?? '';
}
