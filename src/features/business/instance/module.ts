import type { Module, ModuleDeps } from '../../module.ts';
import { instanceArtifactHandlers } from './artifacts.ts';
import { instanceAuditHandlers } from './audit.ts';
import { type HealthDeps, instanceHealthHandlers } from './health.ts';
import { instancePeopleHandlers, type PeopleDeps } from './people.ts';
import { instanceDeliveryHandlers, instanceMailHandlers, type QueueDeps } from './queues.ts';
import type { InstanceSettings } from './settings.ts';
import { bannerHandlers, instanceFlagHandlers } from './settings-handlers.ts';
import { instanceWorkspaceHandlers } from './workspaces.ts';

type Ids = keyof ReturnType<typeof handlersOf>;
type Deps = ModuleDeps & QueueDeps & HealthDeps & PeopleDeps & { readonly settingsOfInstance: InstanceSettings };

export function instanceModule(deps: Deps): Module<Ids> {
  return { handlers: handlersOf(deps) };
}

function handlersOf(deps: Deps) {
  return {
    ...instancePeopleHandlers(deps),
    ...instanceWorkspaceHandlers(deps),
    ...instanceArtifactHandlers(deps),
    ...instanceMailHandlers(deps),
    ...instanceDeliveryHandlers(deps),
    ...instanceHealthHandlers(deps),
    ...instanceFlagHandlers(deps),
    ...bannerHandlers(deps, deps.settingsOfInstance),
    ...instanceAuditHandlers(deps),
  };
}
