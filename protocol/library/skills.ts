/** Skills: artifacts whose source is one Markdown file, with changes that members propose and approvers merge. Source: contract.md §12, §16. */
import { z } from 'zod';
import { edit, params as ofArtifact, read as readsArtifact } from '../artifacts/access.ts';
import { endpoint } from '../core/endpoint.ts';
import { dateTime, pageQuery, pageReply, storedText, success } from '../core/fields.ts';
import { idSchema } from '../core/ids.ts';
import { LIMITS } from '../core/limits.ts';
import { absentOrNull } from '../core/round-trip.ts';
import { admin, params as inWorkspace, member, reads } from '../workspaces/access.ts';

export const skill = z.object({
  id: idSchema('skill'),
  artifact_id: idSchema('artifact'),
  name: z.string().meta({ description: 'of its front matter, as is the description' }),
  description: z.string(),
  version_no: z.number().int(),
  updated_at: dateTime,
});
export const listedSkill = skill.extend({ attached: z.boolean().meta({ description: 'to the workspace as a whole' }) });
export const skillDetail = skill.extend({
  workspace_id: idSchema('workspace').nullable(),
  url: z.string().meta({ description: 'its page' }),
  may_approve: z.boolean().meta({ description: 'the caller writes it, and merges and rejects changes' }),
});
export const skillUse = z.object({
  id: idSchema('artifact'),
  name: z.string(),
  may_detach: z.boolean().meta({ description: 'the caller edits the artifact' }),
  attached_at: dateTime,
});
export const newSkill = skill.extend({
  held: z.literal('REVIEW_REQUIRED').optional().meta({ description: 'it is listed when its first version has been approved' }),
});

export const skillChangeStatus = z.enum(['open', 'merged', 'rejected', 'withdrawn']);
export const listedSkillChange = z.object({
  id: idSchema('skillChange'),
  skill_id: idSchema('skill'),
  title: z.string(),
  note: z.string(),
  base_version_no: z.number().int(),
  status: skillChangeStatus,
  author: z.object({ id: idSchema('user'), name: z.string() }).nullable(),
  created_at: dateTime,
  decided_at: dateTime.nullable(),
  version_no: z.number().int().nullable().meta({ description: 'that its merge has published' }),
});
export const skillChange = listedSkillChange.extend({ markdown: z.string() });
export const skillChangeDetail = skillChange.extend({
  diff: z.string().nullable().meta({ description: 'unified, from its base; null where comparing takes too long' }),
});

const markdown = storedText(LIMITS.skillMarkdownBytesMax)
  .min(1)
  .meta({ description: 'front matter between two lines of ---, with name and description, then Markdown; 128 KB and 2000 lines at most' });
export const skillCreate = z.strictObject({ markdown });
export const skillProposal = z.strictObject({
  markdown,
  title: absentOrNull(storedText(LIMITS.skillChangeTitleCharsMax).trim().min(1)),
  note: absentOrNull(storedText(LIMITS.skillChangeNoteCharsMax)),
});
export const skillDecision = z.strictObject({
  action: z.enum(['merge', 'reject', 'withdraw']).meta({ description: 'merge and reject by approvers, withdraw by its author' }),
});

const group = 'skills';
const lister = { who: 'account', scope: 'artifacts:read' } as const;
const person = { who: 'account', person: true } as const;
const params = z.object({ skillId: idSchema('skill') });
const ofChange = params.extend({ changeId: idSchema('skillChange') });
const skillsIn = inWorkspace.extend(params.shape);
const skillsOf = ofArtifact.extend(params.shape);
const MISSING = ['SKILL_NOT_FOUND'] as const;
const json = <S extends z.ZodType>(schema: S) => ({ kind: 'json', schema, bytesMax: LIMITS.skillBodyBytesMax }) as const;
const PUBLISHING = ['FILE_TOO_LARGE', 'ACCOUNT_STORAGE_FULL', 'VERSION_CONFLICT'] as const;

export const skillEndpoints = {
  'skills.list': endpoint({
    method: 'GET',
    path: '/v1/workspaces/{workspaceId}/skills',
    group,
    summary: 'The skills of a workspace that the caller sees, last changed first.',
    access: reads,
    limit: 'none',
    params: inWorkspace,
    query: z.object({
      attached: z.stringbool().optional().meta({ description: 'only those attached to the workspace, or only the others' }),
      ...pageQuery,
    }),
    replies: { ok: { status: 200, body: z.object({ skills: z.array(listedSkill), ...pageReply }) } },
    errors: [],
  }),
  'skills.create': endpoint({
    method: 'POST',
    path: '/v1/workspaces/{workspaceId}/skills',
    group,
    summary: 'Publishes a Markdown file as a skill: an artifact that members of the workspace see, whose page shows it.',
    access: member,
    limit: 'publish',
    params: inWorkspace,
    body: json(skillCreate),
    replies: { created: { status: 201, body: newSkill } },
    errors: ['FILE_TOO_LARGE', 'ACCOUNT_STORAGE_FULL', 'FORBIDDEN'],
  }),
  'skills.get': endpoint({
    method: 'GET',
    path: '/v1/skills/{skillId}',
    group,
    summary: 'One skill.',
    access: lister,
    limit: 'none',
    params,
    conditional: true,
    replies: { ok: { status: 200, body: skillDetail } },
    errors: MISSING,
  }),
  'skills.markdown': endpoint({
    method: 'GET',
    path: '/v1/skills/{skillId}/markdown',
    group,
    summary: 'The source of a skill, as its live version has it.',
    access: lister,
    limit: 'none',
    params,
    conditional: true,
    replies: { ok: { status: 200, media: 'text/markdown' } },
    errors: MISSING,
  }),
  'skills.putMarkdown': endpoint({
    method: 'PUT',
    path: '/v1/skills/{skillId}/markdown',
    group,
    summary: 'Publishes another source as a new version. By approvers: owners and admins of the workspace, and the owner of the skill.',
    access: person,
    limit: 'publish',
    params,
    conditional: true,
    resource: 'skills.markdown',
    body: { kind: 'bytes', bytesMax: LIMITS.skillMarkdownBytesMax, types: ['text/markdown', 'text/plain'] },
    replies: { ok: { status: 200, body: skill } },
    errors: [...MISSING, ...PUBLISHING, 'SKILL_REQUIRES_APPROVAL', 'FORBIDDEN'],
  }),
  'skillChanges.list': endpoint({
    method: 'GET',
    path: '/v1/skills/{skillId}/changes',
    group,
    summary: 'What was proposed to a skill, newest first, without the sources. For members of its workspace.',
    access: lister,
    limit: 'none',
    params,
    query: z.object({ status: skillChangeStatus.optional(), ...pageQuery }),
    replies: { ok: { status: 200, body: z.object({ changes: z.array(listedSkillChange), ...pageReply }) } },
    errors: [...MISSING, 'FORBIDDEN'],
  }),
  'skillChanges.propose': endpoint({
    method: 'POST',
    path: '/v1/skills/{skillId}/changes',
    group,
    summary: 'Proposes another source, based on the live version. Any member of the workspace may; nothing is applied until it is merged.',
    access: person,
    limit: 'skillChanges',
    params,
    body: json(skillProposal),
    replies: { created: { status: 201, body: skillChange } },
    errors: [...MISSING, 'FORBIDDEN', 'FILE_TOO_LARGE', 'SKILL_LIMIT_EXCEEDED'],
  }),
  'skillChanges.get': endpoint({
    method: 'GET',
    path: '/v1/skills/{skillId}/changes/{changeId}',
    group,
    summary: 'One proposed change with its difference from its base.',
    access: lister,
    limit: 'none',
    params: ofChange,
    conditional: true,
    replies: { ok: { status: 200, body: skillChangeDetail } },
    errors: [...MISSING, 'SKILL_CHANGE_NOT_FOUND', 'FORBIDDEN'],
  }),
  'skillChanges.decide': endpoint({
    method: 'POST',
    path: '/v1/skills/{skillId}/changes/{changeId}',
    group,
    summary:
      'Merges, rejects or withdraws an open change. A merge joins it with what was published since its base, line by line, as a new version; lines that both changed are 409 VERSION_CONFLICT, with both sides marked in `conflict`.',
    access: person,
    limit: 'publish',
    params: ofChange,
    body: json(skillDecision),
    replies: { ok: { status: 200, body: skillChange } },
    errors: [...MISSING, ...PUBLISHING, 'SKILL_CHANGE_NOT_FOUND', 'SKILL_CHANGE_CLOSED', 'SKILL_REQUIRES_APPROVAL', 'FORBIDDEN'],
  }),
  'skills.attachToWorkspace': endpoint({
    method: 'PUT',
    path: '/v1/workspaces/{workspaceId}/skills/{skillId}',
    group,
    summary: 'Attaches a skill of the workspace to all of it.',
    access: admin,
    limit: 'none',
    params: skillsIn,
    replies: { ok: { status: 200, body: success } },
    errors: [...MISSING, 'SKILL_LIMIT_EXCEEDED'],
  }),
  'skills.detachFromWorkspace': endpoint({
    method: 'DELETE',
    path: '/v1/workspaces/{workspaceId}/skills/{skillId}',
    group,
    summary: 'Detaches a skill from the workspace.',
    access: admin,
    limit: 'none',
    params: skillsIn,
    replies: { ok: { status: 200, body: success } },
    errors: MISSING,
  }),
  'skills.uses': endpoint({
    method: 'GET',
    path: '/v1/skills/{skillId}/artifacts',
    group,
    summary:
      'The artifacts of its workspace that a skill is attached to and the caller sees, last attached first, and whether it is attached to the workspace as a whole. For members of the workspace.',
    access: lister,
    limit: 'none',
    params,
    query: z.object(pageQuery),
    replies: {
      ok: {
        status: 200,
        body: z.object({
          workspace: z.boolean().meta({ description: 'attached to the workspace as a whole' }),
          artifacts: z.array(skillUse),
          ...pageReply,
        }),
      },
    },
    errors: [...MISSING, 'FORBIDDEN'],
  }),
  'skills.listOfArtifact': endpoint({
    method: 'GET',
    path: '/v1/artifacts/{id}/skills',
    group,
    summary: 'The skills attached to an artifact that the caller sees, last attached first.',
    access: readsArtifact,
    limit: 'none',
    params: ofArtifact,
    query: z.object(pageQuery),
    replies: { ok: { status: 200, body: z.object({ skills: z.array(skill), ...pageReply }) } },
    errors: [],
  }),
  'skills.attach': endpoint({
    method: 'PUT',
    path: '/v1/artifacts/{id}/skills/{skillId}',
    group,
    summary: 'Attaches a skill of its workspace to an artifact.',
    access: edit,
    limit: 'none',
    params: skillsOf,
    replies: { ok: { status: 200, body: success } },
    errors: [...MISSING, 'SKILL_LIMIT_EXCEEDED'],
  }),
  'skills.detach': endpoint({
    method: 'DELETE',
    path: '/v1/artifacts/{id}/skills/{skillId}',
    group,
    summary: 'Detaches a skill from an artifact.',
    access: edit,
    limit: 'none',
    params: skillsOf,
    replies: { ok: { status: 200, body: success } },
    errors: MISSING,
  }),
} as const;
