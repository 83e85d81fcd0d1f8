/** The content origin: what `{slug}.{contentHost}` answers. Reads no cookie and no token of the API. */
import { createHash } from 'node:crypto';
import type { Pass } from '../../actors/access.ts';
import type { Log } from '../../actors/ports.ts';
import type { ArtifactId, PreviewLinkId, VersionId } from '../../protocol/ids.ts';
import { type Config, pageUrl } from '../config.ts';
import { chain } from '../edge/chain.ts';
import type { ServiceDeps } from '../services/deps.ts';
import { Encodings } from './encodings.ts';
import { FileReplies } from './file-replies.ts';
import { Grants } from './grants.ts';
import { HotFiles } from './hot-files.ts';
import { withLinkPreview } from './link-preview.ts';
import { withOverlay } from './overlay.ts';
import { isSdkFile, type PageSdk, SDK_MIMES, type SdkFile } from './page-sdk.ts';
import { BAD_PATH, methodNotAllowed, NO_FILE, NO_PAGE, passwordForm, UNAVAILABLE } from './pages.ts';
import { resolvePath } from './paths.ts';
import { isDigestOf, type PreviewLink, type ServedFile, type Site, type SiteFile, Sites, type SiteVersion } from './sites.ts';
import type { ContentReply, ContentRequest } from './types.ts';
import { Unlock } from './unlock.ts';

/** Which version a visitor sees, if any. `locked`: the password is wanted first. */
type Viewing = { readonly versionId: VersionId; readonly audience: 'public' | 'private' } | 'hidden' | 'locked';

/** Ours on every page's origin: nothing published under it is reachable. The SDK is at `/_easel/sdk.js`, and at `/sdk.js` where the page has no file of that name. */
const RESERVED_PREFIX = '/_easel/';
const UNLOCK_PATH = '/_easel/unlock';
/** Also ours: `?_preview={secret}` enters a preview, an empty one leaves it. */
const PREVIEW_PARAMETER = '_preview=';

export class ContentServer {
  readonly #config: Config;
  readonly #log: Log;
  readonly #sites: Sites;
  readonly #hot: HotFiles;
  readonly #encodings: Encodings;
  readonly #files: FileReplies;
  readonly #grants: Grants;
  readonly #unlock: Unlock;
  readonly #clock: ServiceDeps['clock'];
  readonly #sdk: PageSdk;
  readonly #sdkFiles = new WeakMap<Site, Map<SdkFile, ServedFile>>();

  constructor(deps: ServiceDeps & { readonly pageSdk: PageSdk }) {
    this.#config = deps.config;
    this.#log = deps.log;
    this.#clock = deps.clock;
    this.#sdk = deps.pageSdk;
    this.#sites = new Sites(deps);
    this.#hot = new HotFiles(deps.objects);
    this.#encodings = new Encodings({ ...deps, hot: this.#hot });
    this.#files = new FileReplies({ hot: this.#hot, encodings: this.#encodings, log: deps.log });
    this.#grants = new Grants(deps);
    this.#unlock = new Unlock({ grants: this.#grants, clock: deps.clock });
  }

  /** Never throws or rejects: what fails is logged and answered with 503. */
  handle(request: ContentRequest): ContentReply | Promise<ContentReply> {
    try {
      const reply = this.#answer(request);
      return reply instanceof Promise ? reply.catch((error) => this.#failed(request, error)) : reply;
    } catch (error) {
      return this.#failed(request, error);
    }
  }

  /** What the cookies that a browser sends to the page's own host open beside its files: data, collaboration, comments. */
  pass(slug: string, artifactId: ArtifactId, cookies: string): Pass | null | Promise<Pass | null> {
    return chain(this.#sites.bySlug(slug), (site) => {
      if (site === null || site.artifactId !== artifactId) return null;
      return chain(this.#openUntil(site, cookies), (expiresAtMs) => (expiresAtMs === null ? null : { artifactId, expiresAtMs }));
    });
  }

  #openUntil(site: Site, cookies: string): number | null | Promise<number | null> {
    return chain(this.#previewed(site, cookies), (link) => {
      if (link !== null) return link.expiresAtMs;
      const isLockedPage = site.visibility === 'password' && site.liveVersionId !== null;
      return isLockedPage ? this.#unlock.until(site, cookies, this.#isSecure()) : null;
    });
  }

  /** Settles when every precompressed form that was asked for is there. */
  encodingsIdle(): Promise<void> {
    return this.#encodings.idle();
  }

  /** Ends the work in the background; call before the database closes. */
  close(): Promise<void> {
    return this.#encodings.close();
  }

  #failed(request: ContentRequest, error: unknown): ContentReply {
    this.#log.error({ err: error, slug: request.slug, path: request.path }, 'a page could not be served');
    return UNAVAILABLE;
  }

  #answer(request: ContentRequest): ContentReply | Promise<ContentReply> {
    const submits = request.method === 'POST' && request.path === UNLOCK_PATH;
    if (!submits && request.method !== 'GET' && request.method !== 'HEAD') {
      return methodNotAllowed(request.path === UNLOCK_PATH ? 'GET, HEAD, POST' : 'GET, HEAD');
    }
    return chain(this.#sites.bySlug(request.slug.toLowerCase()), (site) => {
      if (site === null) return NO_PAGE;
      if (submits) return this.#unlock.submit(site, request, this.#isSecure());
      if (request.query.includes(PREVIEW_PARAMETER)) {
        const parameters = request.query.split('&');
        const at = parameters.findIndex((parameter) => parameter.startsWith(PREVIEW_PARAMETER));
        const secret = parameters[at]?.slice(PREVIEW_PARAMETER.length);
        if (secret !== undefined) return this.#enterPreview(site, request, secret, parameters.toSpliced(at, 1).join('&'));
      }
      return chain(this.#viewing(site, request.header('cookie')), (viewing) => this.#show(site, request, viewing));
    });
  }

  #viewing(site: Site, cookies: string): Viewing | Promise<Viewing> {
    if (cookies === '') return this.#viewingWithout(site, false);
    return chain(this.#previewed(site, cookies), (link): Viewing | Promise<Viewing> => {
      if (link !== null) return { versionId: link.versionId, audience: 'private' };
      if (site.visibility !== 'password') return this.#viewingWithout(site, false);
      return chain(this.#unlock.until(site, cookies, this.#isSecure()), (until) => this.#viewingWithout(site, until !== null));
    });
  }

  #viewingWithout(site: Site, unlocked: boolean): Viewing {
    if (site.liveVersionId === null) return 'hidden';
    if (site.visibility === 'public') return { versionId: site.liveVersionId, audience: 'public' };
    // Workspace pages stay hidden until visitors can sign in on the content origin.
    if (site.visibility !== 'password') return 'hidden';
    return unlocked ? { versionId: site.liveVersionId, audience: 'private' } : 'locked';
  }

  /** The link that the visitor has entered by, as long as it lasts. */
  #previewed(site: Site, cookies: string): PreviewLink | null | Promise<PreviewLink | null> {
    return chain(this.#grants.read('preview', cookies, this.#isSecure()), (grant) =>
      grant === null ? null : chain(this.#sites.previewLink(site, grant.subject as PreviewLinkId), (link) => this.#lasting(link)),
    );
  }

  #lasting(link: PreviewLink | null): PreviewLink | null {
    return link !== null && link.expiresAtMs > this.#clock.nowMs() ? link : null;
  }

  async #enterPreview(site: Site, request: ContentRequest, secret: string, query: string): Promise<ContentReply> {
    const secretSha256 = createHash('sha256').update(secret).digest();
    const link = secret === '' ? null : this.#lasting(await this.#sites.previewLinkBySecret(site, secretSha256));
    if (link === null && secret !== '') return NO_PAGE;
    const cookie =
      link === null
        ? this.#grants.withdraw('preview', this.#isSecure())
        : await this.#grants.issue('preview', link.id, link.expiresAtMs, this.#isSecure());
    // The secret leaves the address bar, and with it history, bookmarks and referrers.
    return {
      status: 302,
      headers: [
        ['Location', sameOrigin(request.path, query)],
        ['Set-Cookie', cookie],
        ['Cache-Control', 'private, no-store'],
        ['Referrer-Policy', 'no-referrer'],
      ],
      body: null,
    };
  }

  #show(site: Site, request: ContentRequest, viewing: Viewing): ContentReply | Promise<ContentReply> {
    if (viewing === 'hidden') return NO_PAGE;
    if (viewing === 'locked') return passwordForm(request.path === UNLOCK_PATH ? '/' : sameOrigin(request.path, request.query), 'ask');
    return chain(this.#sites.version(viewing.versionId), (version) => {
      if (version === null) return NO_PAGE;
      const isReserved = request.path.startsWith(RESERVED_PREFIX);
      const name = request.path.slice(isReserved ? RESERVED_PREFIX.length : 1);
      if (isSdkFile(name) && (isReserved || !version.files.has(name))) return this.#serveSdk(site, name, request, viewing.audience);
      if (isReserved) return request.path === UNLOCK_PATH ? redirect(302, '/') : NO_FILE;
      return this.#resolve(site, version, request, viewing.audience);
    });
  }

  #resolve(site: Site, version: SiteVersion, request: ContentRequest, audience: 'public' | 'private') {
    const resolution = resolvePath(version, request.path, request.query, () => request.header('accept').includes('text/html'));
    switch (resolution.kind) {
      case 'refused':
        return BAD_PATH;
      case 'missing':
        return NO_FILE;
      case 'redirect':
        return redirect(resolution.permanent ? 308 : 302, resolution.location);
      case 'fallback':
        return chain(this.#tagged(site, version, resolution.file), (page) =>
          this.#files.reply(page, request, { status: resolution.found ? 200 : 404, audience, immutable: false }),
        );
      case 'file': {
        const { file } = resolution;
        const view = { status: 200, audience, immutable: namesDigest(file, request.query) } as const;
        return chain(this.#tagged(site, version, file), (page) =>
          this.#files.reply(page, request, { ...view, immutable: view.immutable && page === file }),
        );
      }
    }
  }

  /** It names the artifact, so that every page has bytes and an ETag of its own. */
  #serveSdk(site: Site, name: SdkFile, request: ContentRequest, audience: 'public' | 'private') {
    const files = this.#sdkFiles.get(site) ?? new Map<SdkFile, ServedFile>();
    this.#sdkFiles.set(site, files);
    let file = files.get(name);
    if (file === undefined) {
      const make = () => Buffer.from(this.#sdk.text(name, { artifactId: site.artifactId, baseUrl: '' }));
      file = this.#keep(make(), SDK_MIMES[name], async () => make());
      files.set(name, file);
    }
    return this.#files.reply(file, request, { status: 200, audience, immutable: false });
  }

  /** The page with the tags that we add: of link previews to the entry page, of the comment overlay to all. The file itself where there is nothing to add. */
  #tagged(site: Site, version: SiteVersion, page: SiteFile): ServedFile | Promise<ServedFile> {
    const { title, description, imageUrl } = site.social;
    const hasCard = page.path === version.entrypoint && (title !== null || description !== null || imageUrl !== null);
    if ((!hasCard && site.overlay === null) || !/^text\/html\b/i.test(page.mime)) return page;
    const name = `${version.id}/${page.path}`;
    const known = site.taggedPages.get(name);
    if (known) return known;
    const url = `${pageUrl(this.#config, site.slug)}/`;
    const tag = (original: Buffer) => {
      const carded = hasCard ? withLinkPreview(original, { name: site.name, social: site.social, url }) : original;
      if (site.overlay === null) return carded;
      return withOverlay(carded, { artifactId: site.artifactId, versionId: version.id, path: page.path }, site.overlay);
    };
    return chain(this.#hot.get(page.sha256), (original) => {
      const tagged = tag(original);
      const file = tagged === original ? page : this.#keep(tagged, page.mime, async () => tag(await this.#hot.get(page.sha256)));
      site.taggedPages.set(name, file);
      return file;
    });
  }

  #keep(page: Buffer, mime: string, make: () => Promise<Buffer>): ServedFile {
    const sha256 = createHash('sha256').update(page).digest('hex');
    this.#hot.keep(sha256, page);
    const remake = async () => {
      const bytes = await make();
      this.#hot.keep(sha256, bytes);
      return bytes;
    };
    return { sha256, mime, make: remake };
  }

  #isSecure(): boolean {
    return this.#config.baseUrl.startsWith('https:');
  }
}

function redirect(status: 302 | 308, location: string): ContentReply {
  return {
    status,
    headers: [
      ['Location', location],
      ['Cache-Control', 'no-cache'],
    ],
    body: null,
  };
}

/** A path that begins with two slashes would be another host to a browser. */
function sameOrigin(path: string, query: string): string {
  return `/${path.replace(/^[/\\]+/, '')}${query === '' ? '' : `?${query}`}`;
}

/** Whether the address says which bytes it means: `?v=` or a part of the file name is the beginning of the file's own SHA-256 in hex. */
function namesDigest(file: SiteFile, query: string): boolean {
  return query.startsWith('v=') ? isDigestOf(file.sha256, query.slice(2)) : file.digestInName;
}
