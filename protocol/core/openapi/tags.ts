/** The groups of endpoints, in the order in which a new user needs them. */
import type { Json } from './schemas.ts';

const TAGS = {
  publish: 'Begin here: a folder of files becomes a live page.',
  artifacts: 'What was published: name, address, who sees it, trash, export.',
  versions: 'Every publish is a version: compare, roll back, pin, preview.',
  sharing: 'Who else sees and edits an artifact, what a workspace shares with people outside, and why somebody may what.',
  folders: 'Team Space folders of a workspace.',
  personalFolders: 'Folders that only their owner sees.',
  context: 'Where the context files of a workspace begin.',
  accounts: 'Who the caller is.',
  tokens: 'Credentials of an account.',
  signIn: 'Ways to sign in: identity providers, passwords, codes by mail.',
  deviceLogin: 'Signing in from a program without a browser.',
  sessions: 'Browsers that are signed in.',
  pages: 'Pages on which people sign in and look after their account.',
  workspaces: 'What people share: members, invitations, policies, features.',
  agents: 'Programs that act for a workspace, and their tokens.',
  assets: 'Files of a person or a workspace: versions, collections, share links.',
  connections: 'How a workspace reaches systems outside.',
  fileImports: 'Files brought in from cloud drives, and kept up to date.',
  catalog: 'What data there is in a workspace, and what is made from what.',
  billing: 'Plans, and what a workspace pays: subscription, cards, invoices.',
  json: 'Data of a page: JSON values by key.',
  tables: 'Data of a page: rows with filters, sorting and schemas.',
  blobs: 'Data of a page: files.',
  datasets: 'Data of a page: files of rows, in versions.',
  data: 'Several data requests in one, and what has changed since.',
  documents: 'Yjs documents that people edit together, over HTTP.',
  comments: 'Comments on pages, their settings, guests.',
  realtime: 'WebSockets: documents, live changes, presence.',
  webhooks: 'Events of artifacts and workspaces, sent to other services as they happen.',
  email: 'Mail on behalf of pages, and from visitors to their owners.',
  templates: 'Texts of mails with values in them.',
  instance: 'For those who run the installation: people, workspaces, suspensions, queues, health, exports and deletions.',
  sdk: 'Scripts that pages load.',
  operations: 'This description, health, metrics.',
} as const;

/** The tags of all `groups`; groups that are not listed above come before `operations`. */
export function tagsOf(groups: Iterable<string>): readonly Json[] {
  const used = new Set(groups);
  const known = Object.entries<string>(TAGS).filter(([name]) => used.has(name));
  const others = [...used].filter((name) => !Object.hasOwn(TAGS, name)).map((name) => ({ name }));
  const tags = known.map(([name, description]) => ({ name, description }));
  return [...tags.filter(({ name }) => name !== 'operations'), ...others, ...tags.filter(({ name }) => name === 'operations')];
}
