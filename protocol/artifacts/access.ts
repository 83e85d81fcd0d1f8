import { z } from 'zod';
import { idSchema } from '../core/ids.ts';

/** The path parameter that names the artifact. */
export const id = idSchema('artifact');
export const params = z.object({ id });

export const read = { who: 'artifact', param: 'id', need: 'view', scope: 'artifacts:read' } as const;
export const edit = { who: 'artifact', param: 'id', need: 'edit', scope: 'artifacts:publish' } as const;
/** What it is called and who sees it. */
export const manage = { who: 'artifact', param: 'id', need: 'manage', scope: 'artifacts:publish' } as const;
/** The same for who only looks. */
export const manageReads = { who: 'artifact', param: 'id', need: 'manage', scope: 'artifacts:read' } as const;
export const own = { who: 'artifact', param: 'id', need: 'own', scope: 'artifacts:publish' } as const;
/** The same for people only. */
export const personReads = { who: 'artifact', param: 'id', need: 'view', person: true } as const;
export const personManages = { who: 'artifact', param: 'id', need: 'manage', person: true } as const;
export const personOwns = { who: 'artifact', param: 'id', need: 'own', person: true } as const;
export const reader = { who: 'account', person: true } as const;
export const publisher = { who: 'account', person: true } as const;
/** Agents of a workspace too: there they list and publish. */
export const lister = { who: 'account', scope: 'artifacts:read' } as const;
export const anyPublisher = { who: 'account', scope: 'artifacts:publish' } as const;
