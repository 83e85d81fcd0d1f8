/** Examples of workspaces, folders, agents and provisioning. */
import { AT, EXAMPLE_IDS, inWorkspace, ofArtifact } from '../core/example.ts';

const folder = { params: { ...inWorkspace.params, folderId: EXAMPLE_IDS.folder } };
const personalFolder = { params: { folderId: EXAMPLE_IDS.folder } };

const folders = {
  'folders.list': { ...inWorkspace, query: { all: '1' } },
  'folders.create': { ...inWorkspace, body: { name: 'Reports', visibility: 'workspace', readme: 'Every month.' } },
  'folders.byPath': { params: { ...inWorkspace.params, path: 'plans' } },
  'folders.get': folder,
  'folders.update': { ...folder, body: { description: 'What we plan', guest_comments: true } },
  'folders.delete': folder,
  'folders.move': { params: { ...inWorkspace.params, artifactId: EXAMPLE_IDS.artifact }, body: { folder_id: EXAMPLE_IDS.folder } },
  'personalFolders.list': {
    reply: {
      folders: [
        {
          id: EXAMPLE_IDS.folder,
          name: 'Drafts',
          slug: 'drafts',
          description: null,
          artifact_count: 3,
          parent_id: null,
          subfolder_count: 0,
          guest_comments: null,
          created_at: AT,
        },
      ],
    },
  },
  'personalFolders.create': { body: { name: 'Drafts' } },
  'personalFolders.get': personalFolder,
  'personalFolders.update': { ...personalFolder, body: { name: 'Sketches' } },
  'personalFolders.delete': personalFolder,
  'personalFolders.file': { ...ofArtifact, body: { folder_id: EXAMPLE_IDS.folder } },
  'context.get': inWorkspace,
  'context.put': { ...inWorkspace, body: { entry: 'guides/start.md' } },
  'context.patch': { ...inWorkspace, body: { entry: 'start.md' } },
} as const;

const member = { params: { workspaceId: EXAMPLE_IDS.workspace, userId: EXAMPLE_IDS.user } };
const invitation = { params: { workspaceId: EXAMPLE_IDS.workspace, inviteId: EXAMPLE_IDS.invite } };

const workspace = {
  id: EXAMPLE_IDS.workspace,
  slug: 'maps',
  name: 'Maps',
  description: 'Everything about maps.',
  locale: 'en',
  owner_id: EXAMPLE_IDS.user,
  role: 'owner',
  member_count: 3,
  branding: { accent_color: '#0b5fff', hide_footer: false, logo: null },
  plan: { tier: 'team', status: 'active' },
  created_at: AT,
  updated_at: AT,
};

const workspaces = {
  'workspaces.list': { query: { limit: '10', count: 'true' } },
  'workspaces.create': { body: { name: 'Maps', description: 'Everything about maps.' }, reply: workspace },
  'workspaces.get': { ...inWorkspace, reply: workspace },
  'workspaces.update': { ...inWorkspace, body: { name: 'Charts', branding: { accent_color: '#0b5fff' } } },
  'workspaces.delete': { ...inWorkspace, query: { confirm: 'maps' } },
  'workspaces.join': inWorkspace,
  'workspaces.transfer': { ...inWorkspace, body: { user_id: EXAMPLE_IDS.user, confirm: true } },
  'members.list': { ...inWorkspace, query: { limit: '10', count: 'true' } },
  'members.add': { ...inWorkspace, body: { email: 'grace@example.com', role: 'member' } },
  'members.update': { ...member, body: { role: 'admin' } },
  'members.remove': member,
  'invites.create': { ...inWorkspace, body: { emails: ['grace@example.com', 'katherine@example.com'], role: 'member' } },
  'invites.list': { ...inWorkspace, query: { status: 'pending' } },
  'invites.resend': invitation,
  'invites.revoke': invitation,
  'invites.claim': { body: { code: 'k3vq7-m2xw5-tz4nd-h6b2c' } },
  'accessPolicy.get': inWorkspace,
  'accessPolicy.put': { ...inWorkspace, body: { allowed_domains: ['example.com'], allowed_emails: [], auto_join: true } },
  'features.get': inWorkspace,
  'features.update': { ...inWorkspace, body: { features: { catalog: true, knowledge: null } } },
} as const;

const agents = {
  'agentTokens.list': { ...inWorkspace, query: { limit: '5', count: 'true' } },
  'agentTokens.create': {
    ...inWorkspace,
    body: { name: 'Nightly report', scopes: ['artifacts:read', 'data:write'], expires_at: '2027-01-05T09:30:00Z' },
  },
  'audit.list': { ...inWorkspace, query: { action: 'member.', limit: '5', count: 'true' } },
  'publishPolicy.get': { ...inWorkspace, reply: { policy: 'require_approval', approvals_required: 1 } },
  'publishPolicy.update': { ...inWorkspace, body: { policy: 'require_approval', approvals_required: 1 } },
  'publishPolicy.waiting': { ...inWorkspace, query: { limit: '5', count: 'true' } },
  'agentTokens.revoke': { params: { ...inWorkspace.params, tokenId: EXAMPLE_IDS.token } },
  'provisioning.provision': {
    body: {
      name: 'Acme',
      slug: 'acme',
      admins: ['grace@example.com'],
      branding: { accent_color: '#0b5fff' },
      policy: { allowed_domains: ['example.com'], guest_comments: true },
      folders: ['Reports'],
      connectors: [{ name: 'API', type: 'http', config: { url: 'https://api.example.com' } }],
    },
  },
} as const;

export const workspacesExamples = { ...folders, ...workspaces, ...agents } as const;
