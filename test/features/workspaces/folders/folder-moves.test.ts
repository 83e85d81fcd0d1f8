/** Random moves, deletions and races of Team Space folders: the tree stays a tree, and nobody sees more afterwards than before. */
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import { startTestEasel, type TestEasel, type TestUser } from '../../../support/easel.ts';
import { json, patch, post, published } from '../../../support/requests.ts';
import { newWorkspace } from '../../../support/workspaces.ts';

let easel: TestEasel;
beforeAll(async () => {
  easel = await startTestEasel();
});
afterAll(() => easel.close());

/** Positions in the list of folders at that time; -1 is the top. */
type Step =
  | { readonly kind: 'move'; readonly moves: readonly { readonly folder: number; readonly into: number }[] }
  | { readonly kind: 'delete'; readonly folder: number };

const position = fc.integer({ min: -1, max: 30 });
const oneMove = fc.record({ folder: fc.nat(30), into: position });
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('move' as const), moves: fc.array(oneMove, { minLength: 1, maxLength: 4 }) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('delete' as const), folder: fc.nat(30) }) },
);
const visibility = fc.constantFrom('inherit', 'inherit', 'public', 'workspace', 'private');
const world = fc.record({
  folders: fc.array(fc.record({ visibility, below: position }), { minLength: 3, maxLength: 8 }),
  steps: fc.array(step, { minLength: 4, maxLength: 10 }),
});

interface Folder {
  readonly id: string;
  readonly slug: string;
  readonly parent_id: string | null;
  readonly visibility: string;
}

class Office {
  readonly #workspaceId: string;
  readonly #owner: TestUser;
  readonly #observers: readonly (TestUser | undefined)[];
  readonly #artifacts: string[] = [];

  private constructor(workspaceId: string, owner: TestUser, observers: readonly (TestUser | undefined)[]) {
    [this.#workspaceId, this.#owner, this.#observers] = [workspaceId, owner, observers];
  }

  static async open(): Promise<Office> {
    const [owner, member, stranger] = [await easel.newUser('team'), await easel.newUser(), await easel.newUser()];
    const id = await newWorkspace(easel, { [owner.userId]: 'owner', [member.userId]: 'member' });
    return new Office(id, owner, [member, stranger, undefined]);
  }

  #at(path = ''): string {
    return `/v1/workspaces/${this.#workspaceId}/folders${path}`;
  }

  async folders(): Promise<Folder[]> {
    const { folders } = await json(await easel.fetch(this.#at('?all=1'), { token: this.#owner.token }));
    return folders.toSorted((a: Folder, b: Folder) => (a.id < b.id ? -1 : 1));
  }

  /** A folder, and in it one page that members see and one that only its owner does. */
  async furnish(chosen: string, below: string | null): Promise<string> {
    const body = { name: 'Folder', visibility: chosen, parent_id: below };
    const { id } = await json(await easel.fetch(this.#at(), { token: this.#owner.token, ...post(body) }));
    const page = await published(easel, this.#owner, { workspace_id: this.#workspaceId, folder_id: id, visibility: 'workspace' });
    this.#artifacts.push(page.id);
    return id;
  }

  async move(id: string, parentId: string | null): Promise<number> {
    return (await easel.fetch(this.#at(`/${id}`), { token: this.#owner.token, ...patch({ parent_id: parentId }) })).status;
  }

  async remove(id: string): Promise<number> {
    return (await easel.fetch(this.#at(`/${id}`), { token: this.#owner.token, method: 'DELETE' })).status;
  }

  /** What each observer can open, by name. */
  async seen(): Promise<Set<string>> {
    const folders = (await this.folders()).map(({ id }) => this.#at(`/${id}`));
    const paths = [...folders, ...this.#artifacts.map((id) => `/v1/artifacts/${id}`)];
    const open = new Set<string>();
    for (const [at, observer] of this.#observers.entries()) {
      const replies = await Promise.all(paths.map((path) => easel.fetch(path, observer === undefined ? {} : { token: observer.token })));
      for (const [of, { status }] of replies.entries()) if (status === 200) open.add(`${at} ${paths[of]}`);
    }
    return open;
  }
}

function depthOf(folder: Folder, byId: ReadonlyMap<string, Folder>): number {
  let depth = 1;
  for (let above = folder.parent_id; above !== null && depth <= byId.size + 1; above = byId.get(above)?.parent_id ?? null) depth += 1;
  return depth;
}

function requireTree(folders: readonly Folder[]): void {
  const byId = new Map(folders.map((folder) => [folder.id, folder]));
  const places = folders.map(({ parent_id, slug, visibility: shown }) => `${parent_id}/${slug} ${shown === 'private'}`);
  for (const folder of folders) {
    if (folder.parent_id !== null) expect(byId.has(folder.parent_id)).toBe(true);
    // More levels than there are folders: a cycle.
    expect(depthOf(folder, byId)).toBeLessThanOrEqual(Math.min(folders.length, LIMITS.folderDepthMax));
  }
  // Siblings have different slugs, except that a private one tells nobody of its own.
  expect(new Set(places).size).toBe(folders.length);
}

test('after every move and deletion the folders are a tree, and nobody sees what was hidden before', async () => {
  await fc.assert(
    fc.asyncProperty(world, async ({ folders, steps }) => {
      const office = await Office.open();
      const made: string[] = [];
      for (const { visibility: chosen, below } of folders) made.push(await office.furnish(chosen, made[below] ?? null));
      let before = await office.seen();
      for (const each of steps) {
        const now = await office.folders();
        const at = (index: number) => now[index % Math.max(1, now.length)]?.id;
        if (each.kind === 'delete') {
          const id = at(each.folder);
          if (id !== undefined) expect(await office.remove(id)).toBe(200);
        } else {
          const targets = each.moves.flatMap(({ folder, into }) => {
            const id = at(folder);
            return id === undefined ? [] : [office.move(id, into < 0 ? null : (at(into) ?? null))];
          });
          for (const status of await Promise.all(targets)) expect([200, 409]).toContain(status);
        }
        requireTree(await office.folders());
        const after = await office.seen();
        expect([...after].filter((what) => !before.has(what))).toEqual([]);
        before = after;
      }
    }),
    { numRuns: Number(process.env.FOLDER_WORLDS ?? 12) },
  );
});
