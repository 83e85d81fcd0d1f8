/** The folders of one workspace or person as a tree, and what one caller sees of it. */
import type { Principal } from '../../../../actors/access/access.ts';
import type { FolderId } from '../../../../protocol/core/ids.ts';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import type { EffectiveVisibility, FolderRow } from './rows.ts';
import { folderRoleOf } from './rules.ts';

export class FolderTree {
  /** In the order in which they are listed. */
  readonly all: readonly FolderRow[];
  readonly #byId: ReadonlyMap<FolderId, FolderRow>;

  constructor(rows: readonly FolderRow[]) {
    this.all = rows;
    this.#byId = new Map(rows.map((row) => [row.id, row]));
  }

  get(id: FolderId): FolderRow | undefined {
    return this.#byId.get(id);
  }

  /** The folder and those above it, from the bottom up. The depth ends a circle, which no call can make. */
  upFrom(id: FolderId | null): FolderRow[] {
    const up: FolderRow[] = [];
    for (let at = this.#at(id); at !== undefined && up.length <= LIMITS.folderDepthMax; at = this.#at(at.parent_id)) up.push(at);
    return up;
  }

  /** The folders whose grants reach what is in this one: itself and those above it, up to the first that is private by its own setting. */
  reachOf(row: FolderRow): FolderId[] {
    const up = this.upFrom(row.id);
    const closed = up.findIndex(({ visibility }) => visibility === 'private');
    return (closed === -1 ? up : up.slice(0, closed + 1)).map(({ id }) => id);
  }

  childrenOf(id: FolderId | null): FolderRow[] {
    return this.all.filter(({ parent_id }) => parent_id === id);
  }

  isBelow(id: FolderId, above: FolderId): boolean {
    return this.upFrom(id).some((row) => row.id === above);
  }

  /** Levels of folders from this one down, itself included. */
  levelsOf(id: FolderId): number {
    const depth = this.upFrom(id).length;
    return this.all.reduce((most, row) => {
      const up = this.upFrom(row.id);
      return up.some((each) => each.id === id) ? Math.max(most, up.length - depth + 1) : most;
    }, 1);
  }

  /** What the visibility of a folder at this place comes to: that of the next one up that does not inherit; `workspace` at the top. */
  effective(own: FolderRow['visibility'], parentId: FolderId | null): EffectiveVisibility {
    if (own !== 'inherit') return own;
    for (const { visibility } of this.upFrom(parentId)) if (visibility !== 'inherit') return visibility;
    return 'workspace';
  }

  effectiveOf(row: FolderRow): EffectiveVisibility {
    return this.effective(row.visibility, row.parent_id);
  }

  #at(id: FolderId | null): FolderRow | undefined {
    return id === null ? undefined : this.#byId.get(id);
  }
}

/** A folder is shown below the next folder above that the caller sees, so that nothing tells of those between them. */
export class FolderView {
  readonly tree: FolderTree;
  readonly #principal: Principal;

  constructor(tree: FolderTree, principal: Principal) {
    this.tree = tree;
    this.#principal = principal;
  }

  roleIn(row: FolderRow) {
    const head = { id: row.id, workspaceId: row.workspace_id, ownerId: row.owner_id, makerId: row.created_by };
    const isPersonal = row.workspace_id === null;
    const visibility = isPersonal ? null : this.tree.effectiveOf(row);
    return folderRoleOf({ ...head, visibility, reach: isPersonal ? [] : this.tree.reachOf(row) }, this.#principal);
  }

  sees(row: FolderRow): boolean {
    return this.roleIn(row) !== null;
  }

  /** Undefined where there is none that the caller sees. */
  find(id: FolderId): FolderRow | undefined {
    const row = this.tree.get(id);
    return row !== undefined && this.sees(row) ? row : undefined;
  }

  parentOf(row: FolderRow): FolderRow | undefined {
    return this.tree.upFrom(row.parent_id).find((above) => this.sees(above));
  }

  seen(): FolderRow[] {
    return this.tree.all.filter((row) => this.sees(row));
  }

  childrenOf(id: FolderId | null): FolderRow[] {
    return this.seen().filter((row) => (this.parentOf(row)?.id ?? null) === id);
  }

  pathOf(row: FolderRow): string {
    const parent = this.parentOf(row);
    return parent === undefined ? row.slug : `${this.pathOf(parent)}/${row.slug}`;
  }

  /** Two folders can have one path where folders between them are not seen: the one that really is at this place comes first. */
  byPath(path: string): FolderRow | undefined {
    let candidates: FolderRow[] = [];
    for (const [level, slug] of path.split('/').entries()) {
      const below = level === 0 ? this.childrenOf(null) : candidates.flatMap(({ id }) => this.childrenOf(id));
      candidates = below.filter((row) => row.slug === slug);
    }
    const depth = path.split('/').length;
    return candidates.find(({ id }) => this.tree.upFrom(id).length === depth) ?? candidates[0];
  }
}
