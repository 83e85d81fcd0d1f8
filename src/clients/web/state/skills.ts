/** Skills of a workspace, and what is proposed to them. */
import { type AttachedSkill, answered, api, type Skill, type SkillChange, type SkillDetail, type SkillUse } from '../api/client.ts';
import { words } from '../words/words.ts';
import { pageOf, usePages } from './pages.ts';
import { changed, useLoaded } from './store.ts';
import { tell, tellProblem } from './toasts.ts';

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

/** The pages that a skill is attached to, and whether its workspace is as a whole. */
export function useSkillUses(skillId: string) {
  const pages = usePages<SkillUse>(`skillUses:${skillId}`, async (cursor) => {
    const { body } = await api.skills.uses({ params: { skillId }, query: { cursor } });
    return pageOf(body.artifacts, body);
  });
  const facts = useLoaded(`skillUses:${skillId}:all`, async () => {
    const { body } = await api.skills.uses({ params: { skillId }, query: { limit: 1 } });
    return { workspace: body.workspace };
  });
  return { pages, facts: facts.data };
}

/** Attaches a skill to its workspace as a whole, or detaches it. */
export async function turnForAll(slug: string, { id, name, attached }: Pick<Skill, 'id' | 'name' | 'attached'>): Promise<void> {
  const params = { workspaceId: slug, skillId: id };
  const { skills } = words.value;
  try {
    await (attached ? api.skills.detachFromWorkspace({ params }) : api.skills.attachToWorkspace({ params }));
    tell(attached ? skills.detached(name) : skills.attachedNow(name));
  } catch (error) {
    tellProblem(error);
  }
  changed(`skills:${slug}`, `skillUses:${id}`);
}

/** Attaches a skill to a page or detaches it, and tells so. */
export async function turnForPage(way: 'attach' | 'detach', artifactId: string, skillId: string, told: string): Promise<void> {
  try {
    await api.skills[way]({ params: { id: artifactId, skillId } });
    tell(told);
  } catch (error) {
    tellProblem(error);
  }
  changed(`skillUses:${skillId}`, `attached:${artifactId}`);
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
