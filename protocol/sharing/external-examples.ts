/** Examples of external sharing, explain and simulate. */
import { AT, EXAMPLE_IDS, inWorkspace, ofArtifact } from '../core/example.ts';

const ofSharee = { params: { ...inWorkspace.params, shareeId: EXAMPLE_IDS.sharee } };
const ofExternal = { params: { ...ofSharee.params, memberId: EXAMPLE_IDS.external } };
const ofNote = { params: { ...ofSharee.params, name: 'index.md' } };

const grant = {
  id: EXAMPLE_IDS.grant,
  subject_type: 'external_user',
  subject_id: EXAMPLE_IDS.external,
  subject_name: 'ada@client.example',
  resource_type: 'artifact',
  resource_id: EXAMPLE_IDS.artifact,
  resource_name: 'Quarterly report',
  capability: 'view',
  expires_at: null,
  created_at: AT,
  updated_at: AT,
};

export const externalExamples = {
  'sharees.list': inWorkspace,
  'sharees.create': { ...inWorkspace, body: { name: 'Client Ltd', type: 'client' } },
  'sharees.get': ofSharee,
  'sharees.update': {
    ...ofSharee,
    body: { properties: { region: 'north' }, branding: { logo: 'https://client.example/logo.png', color: '#0b5fff' } },
  },
  'sharees.delete': ofSharee,
  'sharees.members': ofSharee,
  'sharees.addMember': { ...ofSharee, body: { email: 'ada@client.example' } },
  'sharees.removeMember': ofExternal,
  'externalTokens.list': ofExternal,
  'externalTokens.create': { ...ofExternal, body: { name: 'reporting' } },
  'externalTokens.revoke': { params: { ...ofExternal.params, tokenId: EXAMPLE_IDS.token } },
  'grants.list': { ...inWorkspace, reply: { grants: [grant], has_more: false, next_cursor: null } },
  'grants.create': {
    ...inWorkspace,
    body: {
      subject_type: 'sharee',
      subject_id: EXAMPLE_IDS.sharee,
      resource_type: 'folder',
      resource_id: EXAMPLE_IDS.folder,
      capability: 'comment',
    },
    reply: { ...grant, subject_type: 'sharee', subject_id: EXAMPLE_IDS.sharee, subject_name: 'Client Ltd', capability: 'comment' },
  },
  'grants.delete': { params: { ...inWorkspace.params, grantId: EXAMPLE_IDS.grant } },
  'grants.sharePerson': {
    ...inWorkspace,
    body: { email: 'ada@client.example', resource_type: 'artifact', resource_id: EXAMPLE_IDS.artifact, capability: 'view' },
    reply: grant,
  },
  'receipts.list': inWorkspace,
  'shared.list': {
    reply: {
      shared: [
        {
          grant_id: EXAMPLE_IDS.grant,
          workspace: { name: 'Maps' },
          through: 'Client Ltd',
          resource_type: 'artifact',
          resource_id: EXAMPLE_IDS.artifact,
          name: 'Quarterly report',
          url: 'https://quarterly-report.pages.example',
          capability: 'view',
          expires_at: null,
          shared_at: AT,
        },
      ],
      has_more: false,
      next_cursor: null,
    },
  },
  'notes.list': ofSharee,
  'notes.get': ofNote,
  'notes.put': { ...ofNote, body: '# Client Ltd\n\nThey decide on Fridays.\n' },
  'notes.delete': ofNote,
  'access.list': {
    ...ofArtifact,
    query: { limit: '5', count: 'true' },
    reply: { members: true, counts_outside: true, grants: [grant], has_more: false, next_cursor: null, total: 1 },
  },
  'access.explain': {
    ...ofArtifact,
    query: { email: 'ada@client.example' },
    reply: {
      email: 'ada@client.example',
      has_account: true,
      can: { view: true, comment: true, edit: false },
      because: [{ rule: 'role', source: { type: 'workspace', id: EXAMPLE_IDS.workspace, role: 'member' }, gives: ['view', 'comment'] }],
    },
  },
  'access.simulate': {
    ...ofArtifact,
    body: { visibility: 'private' },
    reply: {
      opens: [],
      closes: [{ who: { type: 'person', email: 'ada@example.com', name: 'Ada' }, can: ['view', 'comment'] }],
      opens_total: 0,
      closes_total: 1,
      examined: 3,
      revision: '"sim-k3vq7m2xw5tz4ndh6b2crp"',
    },
  },
} as const;
