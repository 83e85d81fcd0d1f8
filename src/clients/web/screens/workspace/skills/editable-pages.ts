/** Pages of a workspace that the person may edit, looked for page by page of its list, which does not say the person's role on each. */
import { useEffect, useMemo, useState } from 'preact/hooks';
import { type Artifact, api } from '../../../api/client.ts';
import { problemOf } from '../../../api/problem.ts';
import { type Pages, pageOf, usePages } from '../../../state/pages.ts';
import { keyOf, mayManage } from '../../../state/place.ts';
import { myId } from '../../../state/session.ts';
import { mayEdit } from '../../artifact/rights.ts';

const ROWS_A_LIST = 30;
/** So many lists are looked through without being asked again, where they have no page to offer. */
const LISTS_MAX = 5;
const NEAR_MAX = 100;

type Role = NonNullable<Artifact['role']>;

export interface EditablePages extends Pages<Artifact> {
  /** How many pages of the workspace were looked at. */
  readonly lookedAt: number;
}

/** `isMeant`: whether a page is to be offered where the person may edit it. Keep it mounted for one `slug` and one `containing` alone. */
export function useEditablePages(slug: string, containing: string, isMeant: (page: Artifact) => boolean): EditablePages {
  const pages = usePagesWithRoles(slug, containing);
  const [wish, setWish] = useState({ found: 0, lookedAtMax: LISTS_MAX * ROWS_A_LIST });
  const { hasMore, isLoadingMore, moreProblem } = pages;
  const items = pages.items?.filter((page) => mayEdit(page) && isMeant(page));
  const found = items?.length ?? 0;
  const lookedAt = pages.items?.length ?? 0;
  const isLooking = hasMore && moreProblem === undefined && found <= wish.found && lookedAt < wish.lookedAtMax;
  useEffect(() => {
    if (isLooking && !isLoadingMore) pages.more();
  }, [isLooking, isLoadingMore, lookedAt]);
  const more = () => {
    setWish({ found, lookedAtMax: lookedAt + LISTS_MAX * ROWS_A_LIST });
    pages.more();
  };
  return { ...pages, items, more, lookedAt, isLoadingMore: isLoadingMore || isLooking };
}

/** The pages of a workspace, each with the role of the person. */
function usePagesWithRoles(slug: string, containing: string): Pages<Artifact> {
  const roles = useMemo(() => new Roles(containing), [slug, containing]);
  return usePages<Artifact>(`artifacts:${keyOf({ kind: 'workspace', slug })}:roles:${containing}`, async (cursor) => {
    const query = { workspace_id: slug, q: containing || undefined, cursor, limit: ROWS_A_LIST };
    const { body } = await api.artifacts.list({ query });
    return pageOf(await Promise.all(body.artifacts.map(async (page) => ({ ...page, role: await roles.of(page) }))), body);
  });
}

/** Roles on pages. Each is asked for once, however often the list is loaded anew. */
class Roles {
  readonly #containing: string;
  readonly #asked = new Map<string, Promise<Role>>();
  #near: Promise<ReadonlySet<string> | undefined> | undefined;

  constructor(containing: string) {
    this.#containing = containing;
  }

  of(page: Artifact): Promise<Role> {
    const known = this.#asked.get(page.id);
    if (known !== undefined) return known;
    const asked = this.#ask(page);
    this.#asked.set(page.id, asked);
    asked.catch(() => this.#asked.delete(page.id));
    return asked;
  }

  async #ask({ id, owner_id, workspace_id }: Artifact): Promise<Role> {
    if (owner_id === myId()) return 'owner';
    if (owner_id === null && workspace_id !== null && mayManage(workspace_id)) return 'owner';
    const near = await this.#nearOnce();
    return near === undefined || near.has(id) ? roleOn(id) : 'viewer';
  }

  #nearOnce(): Promise<ReadonlySet<string> | undefined> {
    if (this.#near !== undefined) return this.#near;
    this.#near = nearPages(this.#containing);
    // A retry asks again.
    this.#near.catch(() => {
      this.#near = undefined;
    });
    return this.#near;
  }
}

/** The pages of which the person, by any account, is the owner or which are shared with them; undefined where there are too many to list. */
async function nearPages(containing: string): Promise<ReadonlySet<string> | undefined> {
  const { body } = await api.artifacts.list({ query: { q: containing || undefined, limit: NEAR_MAX } });
  return body.has_more ? undefined : new Set(body.artifacts.map(({ id }) => id as string));
}

async function roleOn(id: string): Promise<Role> {
  try {
    return (await api.artifacts.get({ params: { id } })).body.role ?? 'none';
  } catch (error) {
    const { isMissing, isForbidden } = problemOf(error);
    // It was deleted or closed since it was listed.
    if (isMissing || isForbidden) return 'none';
    throw error;
  }
}
