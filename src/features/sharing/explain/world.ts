/** Everything that decides who may what with one artifact, as it is and as it would be after a planned change. */
import {
  type ArtifactHead,
  type Grant,
  type Grants,
  grantsOf,
  NO_GRANTS,
  type Person,
  personAt,
} from '../../../../actors/access/access.ts';
import { Failure } from '../../../../protocol/core/errors.ts';
import type { ArtifactId, ExternalId, GrantId, PersonId, ShareeId, UserId, WorkspaceId } from '../../../../protocol/core/ids.ts';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import type { PlannedChange } from '../../../../protocol/sharing/explain.ts';
import { contentDigest } from '../../../edge/answer.ts';
import { readHead } from '../../artifacts/artifacts/rows.ts';
import type { Queries } from '../../deps.ts';
import { readGrantsOfAddress, readStandings, type Standing } from '../../people/persons/rows.ts';
import { subjectOf } from '../grants/granting.ts';
import { type AccountRow, type ExternalRow, findExternal, listAccounts, listConcerned, listMemberIds, readFolderOfHead } from './rows.ts';

/** Somebody whom access to the artifact concerns. */
export interface Concerned {
  readonly email: string | null;
  readonly name: string | null;
  readonly before: Person;
  readonly after: Person;
}

export interface World {
  readonly before: ArtifactHead;
  readonly after: ArtifactHead;
  readonly people: readonly Concerned[];
  /** Of all of it and of the change, as an ETag. */
  readonly revision: string;
}

/** With whom a planned grant shares. `email`: where nobody outside has that address yet. */
interface PlannedSubject {
  readonly shareeId: ShareeId | null;
  readonly externalId: ExternalId | null;
  readonly email: string | null;
}

const NOBODY: PlannedSubject = { shareeId: null, externalId: null, email: null };
/** Stands for the account of an address that nobody has proved. */
const PENDING = 'usr_pending' as UserId;
const REVISION = /^"sim-[\w-]{22}"$/;

export function isRevision(condition: string): boolean {
  return REVISION.test(condition);
}

/** Throws ARTIFACT_NOT_FOUND, SHAREE_NOT_FOUND, EXTERNAL_NOT_FOUND, FOLDER_NOT_FOUND, TOO_MANY_PEOPLE. */
export async function readWorld(sql: Queries, id: ArtifactId, change: PlannedChange, nowMs: number): Promise<World> {
  const before = await readHead(sql, id);
  if (before === null || before.deletedAtMs !== null) throw new Failure('ARTIFACT_NOT_FOUND');
  const subject = change.grant === undefined ? NOBODY : await plannedSubject(sql, before.workspaceId, change.grant);
  const folder = change.folder_id === undefined || change.folder_id === null ? null : await readFolderOfHead(sql, change.folder_id);
  if (change.folder_id !== undefined && change.folder_id !== null && folder === null)
    throw new Failure('FOLDER_NOT_FOUND', { param: 'folder_id' });
  const moved = change.folder_id === undefined ? before : { ...before, folder };
  const resources = [id, ...(before.folder?.reach ?? []), ...(folder?.reach ?? [])];
  const { people, externals } = await readPeople(sql, before, resources, subject, change.collaborator?.email ?? null, nowMs);
  const after = withCollaborator({ ...moved, visibility: change.visibility ?? before.visibility }, change, people);
  const concerned = people.map((found) => ({
    email: found.email,
    name: found.name,
    before: found.isNew ? { ...found.person, accounts: new Set<UserId>() } : found.person,
    after: change.grant === undefined ? found.person : withGrant(found, before, change.grant, subject, externals),
  }));
  const seen = concerned.map(({ email, before: person }) => [email, ...inWorkspace(person, before)]);
  const state = [plainHead(before), folder, [...externals.values()], seen, plannedText(change), subject];
  return { before, after, people: concerned, revision: `"sim-${contentDigest(JSON.stringify(state))}"` };
}

async function plannedSubject(
  sql: Queries,
  workspaceId: WorkspaceId | null,
  { subject_type, subject_id, email }: NonNullable<PlannedChange['grant']>,
): Promise<PlannedSubject> {
  if (workspaceId === null) {
    throw new Failure('INVALID_REQUEST', { param: 'grant', message: 'grant: only a workspace shares with people outside.' });
  }
  if (email !== undefined) return { ...NOBODY, email, externalId: await findExternal(sql, workspaceId, email) };
  const found = await subjectOf(sql, workspaceId, subject_type ?? 'external_user', subject_id ?? '');
  return found.type === 'sharee' ? { ...NOBODY, shareeId: found.id } : { ...NOBODY, externalId: found.id, email: found.name };
}

interface Found {
  /** The one of their addresses that is shown. */
  readonly email: string | null;
  /** Every address by which they are concerned. */
  readonly addresses: readonly string[];
  readonly name: string | null;
  readonly person: Person;
  /** Only the planned change makes them known: the account stands for one that will prove the address. */
  readonly isNew: boolean;
}

async function readPeople(
  sql: Queries,
  head: ArtifactHead,
  resources: readonly string[],
  subject: PlannedSubject,
  invited: string | null,
  nowMs: number,
) {
  const { workspaceId } = head;
  const most = LIMITS.simulatedPeopleMax;
  const members = workspaceId === null ? [] : await listMemberIds(sql, workspaceId, most + 1);
  const concerned = workspaceId === null ? [] : await listConcerned(sql, workspaceId, resources, subject, most + 1);
  if (members.length + concerned.length + head.collaborators.size > most) throw new Failure('TOO_MANY_PEOPLE');
  const externals = new Map<string, ExternalRow>(concerned.map((row) => [row.email, row]));
  const emails = new Set([...externals.keys(), ...(subject.email === null ? [] : [subject.email]), ...(invited === null ? [] : [invited])]);
  const ids = [...(head.ownerId === null ? [] : [head.ownerId]), ...head.collaborators.keys(), ...members];
  const accounts = await listAccounts(sql, ids, [...emails]);
  const standings = await readStandings(
    sql,
    accounts.map(({ id }) => id),
    nowMs,
  );
  const known = peopleOf(accounts, standings, emails);
  const proved = new Set(accounts.map(({ email }) => email));
  const unproved = [...emails].filter((email) => !proved.has(email));
  const others: Found[] = [];
  for (const email of unproved) others.push(await unprovedOf(sql, workspaceId, email, email === invited, nowMs));
  return { people: [...known, ...others], externals };
}

/** Linked accounts are one person, of whom the address is shown that is concerned. */
function peopleOf(accounts: readonly AccountRow[], standings: ReadonlyMap<UserId, Standing>, emails: ReadonlySet<string>): Found[] {
  const byPerson = new Map<PersonId, Found>();
  for (const { id, email, name } of accounts) {
    const person = standings.get(id)?.person;
    if (person === undefined) continue;
    const known = byPerson.get(person.id);
    const isConcerned = email !== null && emails.has(email);
    const addresses = [...(known?.addresses ?? []), ...(isConcerned ? [email] : [])];
    const shown = known === undefined || isConcerned ? { email, name } : known;
    byPerson.set(person.id, { email: shown.email, name: shown.name, addresses, person, isNew: false });
  }
  return [...byPerson.values()];
}

async function unprovedOf(sql: Queries, workspaceId: WorkspaceId | null, email: string, isInvited: boolean, nowMs: number): Promise<Found> {
  const grants = workspaceId === null ? NO_GRANTS : await readGrantsOfAddress(sql, workspaceId, email);
  const person = { id: email as PersonId, accounts: new Set(isInvited ? [PENDING] : []), workspaces: new Map(), grants };
  return { email, name: null, addresses: [email], person: personAt(person, nowMs), isNew: isInvited };
}

function withCollaborator(head: ArtifactHead, { collaborator }: PlannedChange, people: readonly Found[]): ArtifactHead {
  if (collaborator === undefined) return head;
  const { email, role } = collaborator;
  const person = people.find(({ addresses }) => addresses.includes(email))?.person;
  const collaborators = new Map(head.collaborators);
  // Linked accounts are one person: whoever is removed is removed with all of them, and a new role takes the place of the others.
  for (const account of person?.accounts ?? []) collaborators.delete(account);
  const [account] = person?.accounts ?? [];
  if (role !== null && account !== undefined) collaborators.set(account, role);
  return { ...head, collaborators };
}

function withGrant(
  { person, addresses }: Found,
  head: ArtifactHead,
  { capability, expires_at }: NonNullable<PlannedChange['grant']>,
  { shareeId, email }: PlannedSubject,
  externals: ReadonlyMap<string, ExternalRow>,
): Person {
  const { workspaceId } = head;
  const meant = addresses.find((address) =>
    shareeId === null ? address === email : externals.get(address)?.sharees.includes(shareeId) === true,
  );
  if (meant === undefined || workspaceId === null) return person;
  const externalId = externals.get(meant)?.id ?? ('ext_planned' as ExternalId);
  const isReplaced = (grant: Grant) =>
    grant.resourceId === head.id && grant.shareeId === shareeId && (shareeId !== null || grant.externalId === externalId);
  const kept = all(person.grants).filter((grant) => !isReplaced(grant));
  const expiresAtMs = expires_at === undefined ? null : Date.parse(expires_at);
  const added = { id: 'grt_planned' as GrantId, workspaceId, resourceId: head.id, externalId, shareeId, expiresAtMs };
  return { ...person, grants: grantsOf(capability === null ? kept : [...kept, { ...added, capability }], person.grants.sharedBy) };
}

function all({ byResource }: Grants): Grant[] {
  return [...byResource.values()].flat();
}

/** What of a person decides about this artifact, for the revision. */
function inWorkspace(person: Person, { workspaceId }: ArtifactHead): readonly unknown[] {
  const role = workspaceId === null ? null : (person.workspaces.get(workspaceId) ?? null);
  const grants = all(person.grants).filter((grant) => grant.workspaceId === workspaceId);
  return [person.id, [...person.accounts].sort(), role, grants];
}

function plainHead(head: ArtifactHead): readonly unknown[] {
  const { collaborators, liveVersionId: _, ...fields } = head;
  return [fields, [...collaborators].sort()];
}

/** The same change, however its JSON was written. */
function plannedText({ visibility, grant, folder_id, collaborator }: PlannedChange): readonly unknown[] {
  const planned = grant === undefined ? null : [grant.capability, grant.expires_at === undefined ? null : Date.parse(grant.expires_at)];
  return [visibility ?? null, planned, folder_id ?? null, folder_id === undefined, collaborator ?? null];
}
