/** Preview links, which show a private page or a draft. */
import type { Session } from './session.ts';

export async function previewLink(session: Session, artifactId: string, versionId: string): Promise<{ url: string; expires_at: string }> {
  const { signal } = session.shell;
  const made = await session.api.previewLinks.create({ params: { id: artifactId }, body: { version_id: versionId }, signal });
  return { url: made.body.url, expires_at: made.body.expires_at };
}
