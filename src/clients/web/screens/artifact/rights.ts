import type { Artifact } from '../../api/client.ts';

/** Whether the screen offers changes; the server decides. */
export function mayEdit({ role }: Artifact): boolean {
  return role === 'owner' || role === 'editor';
}

/** Whether the screen offers to share it; editors see with whom it is shared. */
export function mayShare({ role }: Artifact): boolean {
  return role === 'owner';
}

/** Whether the screen offers to ask the page's agent, which visitors may only where it lets them. */
export function mayAsk({ role, allow_anon_agent, live_version_no }: Artifact): boolean {
  return live_version_no !== null && (allow_anon_agent || (role !== null && role !== 'none'));
}

/** Where the page opens as the signed-in person. Everybody sees a public page, also without its knowing who they are. */
export function visitAddress({ visibility, slug, url }: Pick<Artifact, 'visibility' | 'slug' | 'url'>): string {
  return visibility === 'public' ? url : `/open?${new URLSearchParams({ slug }).toString()}`;
}
