import { z } from 'zod';

/** What somebody outside may do with what is shared, each with the rights of those before it. Source: contract.md §10. */
export const CAPABILITIES = ['view', 'comment', 'create', 'edit'] as const;
export const capability = z.enum(CAPABILITIES).meta({
  description:
    'view: see it. comment: also comment. create: also publish new artifacts into a shared folder. edit: also change its data and publish versions.',
});
export type Capability = (typeof CAPABILITIES)[number];
