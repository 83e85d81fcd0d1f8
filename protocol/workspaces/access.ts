import { z } from 'zod';
import { missingAs } from '../core/missing.ts';
import { patterned } from '../core/pattern.ts';

const REF = /^(?:wsp_[a-z0-9]{24}|[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9]))$/;

/** An id or a slug. Source: spec.md, "Workspaces". */
export const workspaceRef = missingAs(
  patterned(z.string().regex(REF, 'must be the id or the slug of a workspace'), REF),
  'WORKSPACE_NOT_FOUND',
);
export const params = z.object({ workspaceId: workspaceRef });

const workspace = { who: 'workspace', param: 'workspaceId' } as const;

/** Agents of the workspace too, with the scope. */
export const reads = { ...workspace, role: 'member', scope: 'artifacts:read' } as const;
export const member = { ...workspace, role: 'member', person: true } as const;
export const admin = { ...workspace, role: 'admin', person: true } as const;
export const owner = { ...workspace, role: 'owner', person: true } as const;
