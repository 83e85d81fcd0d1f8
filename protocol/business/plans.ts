/** The plan of a workspace and what it allows. Buying and changing one is billing. */
import { z } from 'zod';
import { endpoint } from '../core/endpoint.ts';
import { tier } from '../people/accounts.ts';
import { params, reads } from '../workspaces/access.ts';
import { workspaceFeatures } from '../workspaces/features.ts';
import { planStatus } from '../workspaces/workspaces.ts';
import { allowances, overAllowance } from './allowances.ts';

const count = z.number().int();

export const workspacePlan = z.object({
  tier,
  status: planStatus,
  in_force: tier.meta({ description: 'the tier that counts: `free` for a plan that is canceled or incomplete' }),
  ...workspaceFeatures.shape,
  allowances,
  usage: z.object({
    bytes: count.meta({ description: 'of what the workspace owns itself; what belongs to a member counts for that account' }),
    artifacts: count.meta({ description: 'owned by the workspace itself, the trash included' }),
    members: count,
  }),
  over: overAllowance.meta({ description: 'what is over the allowance since the plan has changed; nothing of it is taken away' }),
});

export const plans = {
  'plans.get': endpoint({
    method: 'GET',
    path: '/v1/workspaces/{workspaceId}/plan',
    group: 'workspaces',
    summary: 'The plan of the workspace, what it allows, how much of it is used and what is over it.',
    access: reads,
    limit: 'none',
    params,
    conditional: true,
    replies: { ok: { status: 200, body: workspacePlan } },
    errors: [],
  }),
} as const;
