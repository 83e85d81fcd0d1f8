/** Skills of a workspace, and what is proposed to them. */
import { type AttachedSkill, answered, api, type Skill, type SkillChange, type SkillDetail } from '../api/client.ts';
import { pageOf, usePages } from './pages.ts';
import { useLoaded } from './store.ts';

export function useSkills(slug: string) {
  return usePages<Skill>(`skills:${slug}`, async (cursor) => {
    const { body } = await api.skills.list({ params: { workspaceId: slug }, query: { cursor } });
    return pageOf(body.skills, body);
  });
}

/** Those attached to a page. */
export function useAttached(artifactId: string) {
  return usePages<AttachedSkill>(`attached:${artifactId}`, async (cursor) => {
    const { body } = await api.skills.listOfArtifact({ params: { id: artifactId }, query: { cursor } });
    return pageOf(body.skills, body);
  });
}

export interface ReadSkill {
  readonly detail: SkillDetail;
  readonly markdown: string;
}

export function useSkill(skillId: string) {
  return useLoaded<ReadSkill>(`skill:${skillId}`, async () => {
    const { body: detail } = await api.skills.get({ params: { skillId } });
    // Markdown is no JSON, so that the calls of the table do not carry it.
    const reply = await answered(() =>
      fetch(`/v1/skills/${encodeURIComponent(skillId)}/markdown`, { headers: { accept: 'text/markdown, application/json' } }),
    );
    return { detail, markdown: await reply.text() };
  });
}

export function useChanges(skillId: string) {
  return usePages<SkillChange>(`skillChanges:${skillId}`, async (cursor) => {
    const { body } = await api.skillChanges.list({ params: { skillId }, query: { cursor } });
    return pageOf(body.changes, body);
  });
}

/** The Markdown below the front matter. */
export function bodyOf(markdown: string): string {
  return markdown.replace(/^---[ \t]*\n[\s\S]*?\n---[ \t]*(?:\n|$)/, '');
}
