/** The content origin: serves `{slug}.{contentHost}` and reads no cookie or token of the API. */
import { createHash } from 'node:crypto';
import { type ArtifactHead, decide, type Principal } from '../../actors/access/access.ts';
import type { Log } from '../../actors/runtime/ports.ts';
import type { ArtifactId, PreviewLinkId, VersionId } from '../../protocol/core/ids.ts';
import { chain } from '../edge/chain.ts';
import { NO_CALLER, type PageCaller } from '../edge/page-caller.ts';
import { BEGIN_PATH, ENTER_PATH, type PageSignIns } from '../edge/page-entry.ts';
import type { LimiterDeps, ServiceDeps } from '../features/deps.ts';
import type { Config } from '../platform/config.ts';
import { Encodings } from './encodings.ts';
import { FileReplies } from './file-replies.ts';
import { Grants } from './grants.ts';
import { HotFiles } from './hot-files.ts';
import { isSdkFile, type PageSdk, SDK_MIMES, type SdkFile } from './page-sdk.ts';
import { taggerOf } from './page-tags.ts';
import { isPageView } from './page-view.ts';
import { BAD_PATH, methodNotAllowed, NO_FILE, NO_PAGE, passwordForm, SUSPENDED, UNAVAILABLE } from './pages.ts';
import { resolvePath } from './paths.ts';
import { isDigestOf, type PreviewLink, type ServedFile, type Site, type SiteFile, Sites, type SiteVersion } from './sites.ts';
import type { ContentReply, ContentRequest } from './types.ts';
import { Unlock } from './unlock.ts';
import { Viewers } from './viewers.ts';
import { isScript, ownWorker, WORKER_ENDS } from './worker-scripts.ts';

/** The version that a visitor sees, if any. `locked`: the visitor must enter the password first. */
type Viewing = Seen | 'hidden' | 'locked';

interface Seen {
  readonly versionId: VersionId;
  readonly audience: 'public' | 'private';
  /** By a preview link. */
  readonly isPreview: boolean;
}

/** Reserved on every page's origin, so published files below it are not reachable. The SDK is at `/_easel/sdk.js`, and at `/sdk.js` where the page has no such file. */
const RESERVED_PREFIX = '/_easel/';
const UNLOCK_PATH = '/_easel/unlock';
/** A reserved parameter: `?_preview={secret}` enters a preview, an empty one leaves it. */
const PREVIEW_PARAMETER = '_preview=';

interface Heads {
  get(id: ArtifactId): ArtifactHead | Promise<ArtifactHead | null>;
}

export interface ContentDeps extends ServiceDeps {
  readonly limiters: LimiterDeps['limiters'];
  readonly pageSdk: PageSdk;
  readonly heads: Heads;
  readonly signIns: PageSignIns;
  /** Who was let in to a page by what is shared with them. */
  readonly receipts: { note(head: ArtifactHead, principal: Principal): void };
  /** How often pages are opened. */
  readonly views: { note(artifactId: ArtifactId, view: ContentRequest): void };
}

export interface PicturedPage {
  readonly slug: string;
  readonly artifactId: ArtifactId;
  readonly versionId: VersionId;
}

export interface PicturedFile {
  /** As in `ContentRequest`. */
  readonly path: string;
  readonly query: string;
  readonly accept: string;
}

export class ContentServer {
  readonly #config: Config;
  readonly #log: Log;
  readonly #sites: Sites;
  readonly #hot: HotFiles;
  readonly #encodings: Encodings;
  readonly #files: FileReplies;
  readonly #grants: Grants;
  readonly #unlock: Unlock;
  readonly #viewers: Viewers;
  readonly #heads: Heads;
  readonly #receipts: ContentDeps['receipts'];
  readonly #views: ContentDeps['views'];
  readonly #clock: ServiceDeps['clock'];
  readonly #sdk: PageSdk;
  readonly #sdkFiles = new WeakMap<Site, Map<SdkFile, ServedFile>>();

  constructor(deps: ContentDeps) {
    this.#config = deps.config;
    this.#log = deps.log;
    this.#clock = deps.clock;
    this.#sdk = deps.pageSdk;
    this.#sites = new Sites(deps);
    this.#hot = new HotFiles(deps.objects);
    this.#encodings = new Encodings({ ...deps, hot: this.#hot });
    this.#files = new FileReplies({ hot: this.#hot, encodings: this.#encodings, log: deps.log });
    this.#grants = new Grants(deps);
    this.#unlock = new Unlock({ grants: this.#grants, clock: deps.clock, limiter: deps.limiters.shared });
    this.#viewers = new Viewers({ config: deps.config, signIns: deps.signIns, limiter: deps.limiters.memory });
    this.#heads = deps.heads;
    this.#receipts = deps.receipts;
    this.#views = deps.views;
  }

  /** Never throws or rejects; failures are logged and answered with 503. */
  handle(request: ContentRequest): ContentReply | Promise<ContentReply> {
    try {
      const reply = this.#answer(request);
      return reply instanceof Promise ? reply.catch((error) => this.#failed(request, error)) : reply;
    } catch (error) {
      return this.#failed(request, error);
    }
  }

  /** Who calls for data, collaboration and comments, by the cookies of the page's own host. */
  caller(slug: string, artifactId: ArtifactId, cookies: string): PageCaller | Promise<PageCaller> {
    return chain(this.#sites.bySlug(slug), (site) =>
      site === null || site.artifactId !== artifactId ? NO_CALLER : this.#callerOn(site, cookies),
    );
  }

  /** Who sees this page, for as long as an answer is on its way. */
  visitor(slug: string, cookies: string) {
    return chain(this.#sites.bySlug(slug.toLowerCase()), (site) => {
      if (site === null) return null;
      const { artifactId } = site;
      return chain(this.#callerOn(site, cookies), (caller) => ({ artifactId, ...caller }));
    });
  }

  #callerOn(site: Site, cookies: string): PageCaller | Promise<PageCaller> {
    if (cookies === '') return NO_CALLER;
    const { artifactId } = site;
    return chain(this.#viewers.find(artifactId, cookies), (viewer) => {
      // Nobody needs a pass to a public page, and what is open would end with it.
      if (site.visibility === 'public') return viewer === null ? NO_CALLER : { viewer, pass: null };
      return chain(this.#openUntil(site, cookies), (expiresAtMs) => ({
        viewer,
        pass: expiresAtMs === null ? null : { artifactId, expiresAtMs },
      }));
    });
  }

  #openUntil(site: Site, cookies: string): number | null | Promise<number | null> {
    return chain(this.#previewed(site, cookies), (link) => {
      if (link !== null) return link.expiresAtMs;
      const isLockedPage = site.visibility === 'password' && site.liveVersionId !== null;
      return isLockedPage ? this.#unlock.until(site, cookies, this.#isSecure()) : null;
    });
  }

  /**
   * A file of one version as a visitor gets it, for the picture that the service makes of a page. Nothing is decided here: whoever is shown the
   * picture may see the artifact.
   */
  pictured({ slug, artifactId, versionId }: PicturedPage, file: PicturedFile): ContentReply | Promise<ContentReply> {
    const header = (name: string) => (name === 'accept' ? file.accept : '');
    const request = { method: 'GET', slug, path: file.path, query: file.query, address: '', header };
    return chain(this.#sites.bySlug(slug), (site) =>
      site === null || site.artifactId !== artifactId
        ? NO_PAGE
        : this.#show(site, request, { versionId, audience: 'private', isPreview: true }),
    );
  }

  /** Settles when all queued precompressed forms are made. */
  encodingsIdle(): Promise<void> {
    return this.#encodings.idle();
  }

  /** Stops the background work; call it before the database closes. */
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
    if (!submits && request.header('service-worker') !== '') return this.#worker(request);
    const isEntry = request.method === 'GET' && request.path === ENTER_PATH;
    if (request.method === 'GET' && request.path === BEGIN_PATH) return this.#viewers.begin(request);
    return chain(this.#sites.bySlug(request.slug.toLowerCase()), (site) => {
      if (isEntry) return this.#viewers.enter(request, site?.artifactId ?? null);
      if (site === null) return submits ? NO_PAGE : this.#viewers.noPage(request);
      if (submits) return this.#unlock.submit(site, request, this.#isSecure());
      if (request.query.includes(PREVIEW_PARAMETER)) {
        const parameters = request.query.split('&');
        const at = parameters.findIndex((parameter) => parameter.startsWith(PREVIEW_PARAMETER));
        const secret = parameters[at]?.slice(PREVIEW_PARAMETER.length);
        if (secret !== undefined) return this.#enterPreview(site, request, secret, parameters.toSpliced(at, 1).join('&'));
      }
      return chain(this.#viewing(site, request), (viewing) => this.#show(site, request, viewing));
    });
  }

  #viewing(site: Site, request: ContentRequest): Viewing | Promise<Viewing> {
    const cookies = request.header('cookie');
    if (cookies === '') return this.#viewingWithout(site, false);
    return chain(this.#previewed(site, cookies), (link): Viewing | Promise<Viewing> => {
      if (link !== null) return { versionId: link.versionId, audience: 'private', isPreview: true };
      if (site.visibility === 'public') return this.#viewingWithout(site, false);
      return chain(this.#isOpenTo(site, request), (isOpen) => {
        if (isOpen || site.visibility !== 'password') return this.#viewingWithout(site, isOpen);
        return chain(this.#unlock.until(site, cookies, this.#isSecure()), (until) => this.#viewingWithout(site, until !== null));
      });
    });
  }

  /** Whether somebody is signed in here who may see the page. */
  #isOpenTo({ artifactId, slug }: Site, request: ContentRequest): boolean | Promise<boolean> {
    return chain(this.#viewers.of(artifactId, slug, request), (viewer) => {
      if (viewer === null) return false;
      return chain<ArtifactHead | null, boolean>(this.#heads.get(artifactId), (head) => {
        const decision = decide(head, viewer, 'data:read', null);
        // Who may see it is told that it is suspended.
        if (decision === 'suspended') return true;
        if (head === null || decision !== 'allowed') return false;
        this.#receipts.note(head, viewer);
        return true;
      });
    });
  }

  /** `unlocked`: by the password, or by who is signed in. */
  #viewingWithout(site: Site, unlocked: boolean): Viewing {
    if (site.liveVersionId === null) return 'hidden';
    if (site.visibility === 'public') return { versionId: site.liveVersionId, audience: 'public', isPreview: false };
    if (unlocked) return { versionId: site.liveVersionId, audience: 'private', isPreview: false };
    return site.visibility === 'password' ? 'locked' : 'hidden';
  }

  /** The preview link that the visitor entered by, while it is valid. */
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
    // The redirect removes the secret from the address bar, and so from history, bookmarks and referrers.
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
    if (viewing === 'hidden') return this.#viewers.noPage(request);
    if (site.isSuspended && viewing !== 'locked') return SUSPENDED;
    if (viewing === 'locked') return passwordForm(request.path === UNLOCK_PATH ? '/' : sameOrigin(request.path, request.query), 'ask');
    return chain(this.#sites.version(viewing.versionId), (version) => {
      if (version === null) return NO_PAGE;
      const isReserved = request.path.startsWith(RESERVED_PREFIX);
      const name = request.path.slice(isReserved ? RESERVED_PREFIX.length : 1);
      if (isSdkFile(name) && (isReserved || !version.files.has(name))) return this.#serveSdk(site, name, request, viewing.audience);
      if (isReserved) return request.path === UNLOCK_PATH ? redirect(302, '/') : NO_FILE;
      return this.#resolve(site, version, request, viewing);
    });
  }

  /** The script of a service worker that this visitor's browser has, or is about to install. */
  #worker(request: ContentRequest): ContentReply | Promise<ContentReply> {
    return chain(this.#sites.bySlug(request.slug.toLowerCase()), (site) => {
      if (site === null) return WORKER_ENDS;
      return chain(this.#viewing(site, request), (viewing) => {
        if (typeof viewing === 'string' || site.isSuspended) return WORKER_ENDS;
        return chain(this.#sites.version(viewing.versionId), (version) => {
          const found = version === null ? undefined : resolvePath(version, request.path, request.query, () => false);
          if (found?.kind !== 'file' || !isScript(found.file.mime) || request.path.startsWith(RESERVED_PREFIX)) return WORKER_ENDS;
          const { sha256, mime } = found.file;
          return chain(this.#hot.get(sha256), (script) => ownWorker(script, mime, site.artifactId));
        });
      });
    });
  }

  #resolve(site: Site, version: SiteVersion, request: ContentRequest, { audience, isPreview }: Seen) {
    const resolution = resolvePath(version, request.path, request.query, () => request.header('accept').includes('text/html'));
    switch (resolution.kind) {
      case 'refused':
        return BAD_PATH;
      case 'missing':
        return NO_FILE;
      case 'redirect':
        return redirect(resolution.permanent ? 308 : 302, resolution.location);
      case 'fallback':
      case 'file': {
        const { file } = resolution;
        const status = resolution.kind === 'fallback' && !resolution.found ? 404 : 200;
        const isImmutable = resolution.kind === 'file' && namesDigest(file, request.query);
        const reply = chain(this.#tagged(site, version, file), (page) =>
          this.#files.reply(page, request, { status, audience, immutable: isImmutable && page === file }),
        );
        return isPreview ? reply : chain(reply, (made) => this.#noted(site, file, request, made));
      }
    }
  }

  #noted({ artifactId }: Site, { mime }: SiteFile, request: ContentRequest, reply: ContentReply): ContentReply {
    if (isPageView(mime, request, reply.status)) this.#views.note(artifactId, request);
    return reply;
  }

  /** The script names the artifact, so its bytes and ETag differ for each page. */
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

  /** The page with added tags; the file itself where nothing is added. */
  #tagged(site: Site, version: SiteVersion, page: SiteFile): ServedFile | Promise<ServedFile> {
    const tag = taggerOf(site, version, page, this.#config);
    if (tag === null) return page;
    const name = `${version.id}/${page.path}`;
    const known = site.taggedPages.get(name);
    if (known) return known;
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

/** Browsers read a path that begins with two slashes as another host. */
function sameOrigin(path: string, query: string): string {
  return `/${path.replace(/^[/\\]+/, '')}${query === '' ? '' : `?${query}`}`;
}

/** Whether the URL identifies the bytes: `?v=` or a part of the file name is a prefix of the file's SHA-256 in hex. */
function namesDigest(file: SiteFile, query: string): boolean {
  return query.startsWith('v=') ? isDigestOf(file.sha256, query.slice(2)) : file.digestInName;
}
