/** The way of a signed-in person onto a page's origin: where their browser goes next. */
import type { ArtifactHead, UserPrincipal } from '../../../../actors/access/access.ts';
import { slugSchema } from '../../../../protocol/core/fields.ts';
import type { ArtifactId } from '../../../../protocol/core/ids.ts';
import { SECRET_FORM } from '../../../edge/page-entry.ts';
import type { ServiceDeps } from '../../deps.ts';
import { readSlugOwner } from '../artifacts/rows.ts';
import type { SessionsOnPages } from './page-sign-ins.ts';
import { beginAddress, enterAddress, welcomeOf } from './rules.ts';

export interface Wanted {
  /** A path of the page, from `pagePath`. */
  readonly to: string;
  /** As the page's origin has sent it with the browser; anything else is like none. */
  readonly challenge: string | undefined;
}

/** `asked`: they have to agree first. `refused`: also where there is no such page. */
export type Next = { readonly kind: 'go'; readonly url: string } | { readonly kind: 'asked' } | { readonly kind: 'refused' };

export interface ViewingDeps extends Pick<ServiceDeps, 'sql' | 'config'> {
  readonly heads: { get(id: ArtifactId): ArtifactHead | Promise<ArtifactHead | null> };
  readonly signIns: Pick<SessionsOnPages, 'ticket'>;
}

export class Viewing {
  readonly #deps: ViewingDeps;

  constructor(deps: ViewingDeps) {
    this.#deps = deps;
  }

  /** The live artifact with this slug. */
  async headOf(slug: string): Promise<ArtifactHead | null> {
    if (!slugSchema.safeParse(slug).success) return null;
    const found = await readSlugOwner(this.#deps.sql, slug);
    return found === null ? null : this.#deps.heads.get(found.id);
  }

  /** `agreed`: the person wants the page to know them. */
  async next(head: ArtifactHead | null, session: UserPrincipal, { to, challenge }: Wanted, agreed: boolean): Promise<Next> {
    const { config, signIns } = this.#deps;
    const welcome = welcomeOf(head, session);
    if (head === null || welcome === 'refused') return { kind: 'refused' };
    if (welcome === 'asked' && !agreed) return { kind: 'asked' };
    if (challenge === undefined || !SECRET_FORM.test(challenge)) return { kind: 'go', url: beginAddress(config, head.slug, to) };
    return { kind: 'go', url: enterAddress(config, head.slug, to, await signIns.ticket(session, head.id, challenge)) };
  }
}
