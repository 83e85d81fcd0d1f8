/** The administration of the installation: all of its endpoints. */
import { banners } from './banner.ts';
import { instanceArtifacts } from './instance-artifacts.ts';
import { instanceHealth } from './instance-health.ts';
import { instancePeople } from './instance-people.ts';
import { instanceQueues } from './instance-queues.ts';
import { instanceWorkspaces } from './instance-workspaces.ts';
import { personData } from './person-data.ts';

export const instance = {
  ...instancePeople,
  ...instanceWorkspaces,
  ...instanceArtifacts,
  ...instanceQueues,
  ...instanceHealth,
  ...banners,
  ...personData,
} as const;
