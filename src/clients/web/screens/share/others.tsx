/** Who has access to a page without being a collaborator: by the workspace, by a folder, from outside, by links, by its visibility. */
import type { Artifact, PreviewLink, ReachingGrant } from '../../api/client.ts';
import { useVersions } from '../../state/loads.ts';
import { endGrant, endPreviewLink, useOtherAccess } from '../../state/outside.ts';
import { mayManage, seatIn } from '../../state/place.ts';
import { Button } from '../../ui/button.tsx';
import { Icon, type IconName } from '../../ui/icon.tsx';
import { Tag } from '../../ui/small.tsx';
import { ProblemNote, Skeleton } from '../../ui/states.tsx';
import { ago } from '../../words/format.ts';
import { words } from '../../words/words.ts';

export function OtherAccess({ artifact }: { readonly artifact: Artifact }) {
  const { data, problem, reload } = useOtherAccess(artifact.id);
  const { others } = words.value;
  const { workspace_id, visibility } = artifact;
  const isEmpty =
    data?.grants.length === 0 && data.links.length === 0 && workspace_id === null && visibility !== 'public' && visibility !== 'password';
  return (
    <section class="share-part" aria-labelledby="others">
      <h3 id="others" tabIndex={-1}>
        {others.title}
      </h3>
      {isEmpty ? <p class="soft small">{others.none}</p> : <p class="soft small">{others.text}</p>}
      {data === undefined && problem === undefined && <Skeleton shape="line" count={2} />}
      {data === undefined && problem !== undefined && <ProblemNote problem={problem} onRetry={reload} />}
      {data !== undefined && !isEmpty && (
        <ul class="rows">
          <ByVisibility visibility={visibility} />
          {workspace_id !== null && <ByWorkspace artifact={artifact} workspaceId={workspace_id} members={data.members} />}
          {data.grants.map((grant) => (
            <GrantRow key={grant.id} grant={grant} workspaceId={workspace_id ?? ''} counts={data.counts_outside} />
          ))}
          {data.links.map((link) => (
            <LinkRow key={link.id} artifactId={artifact.id} link={link} />
          ))}
        </ul>
      )}
    </section>
  );
}

interface WayProps {
  readonly icon: IconName;
  readonly name: string;
  readonly why: string;
}

function Way({ icon, name, why }: WayProps) {
  return (
    <li class="row-item">
      <span class="avatar is-square has-icon">
        <Icon name={icon} />
      </span>
      <div class="grow">
        <p class="row-title">{name}</p>
        <p class="row-facts">{why}</p>
      </div>
    </li>
  );
}

function ByVisibility({ visibility }: Pick<Artifact, 'visibility'>) {
  const { others } = words.value;
  if (visibility === 'public') return <Way icon="globe" name={others.public} why={others.publicText} />;
  if (visibility === 'password') return <Way icon="key" name={others.password} why={others.passwordText} />;
  return null;
}

interface ByWorkspaceProps {
  readonly artifact: Artifact;
  readonly workspaceId: string;
  readonly members: boolean;
}

function ByWorkspace({ artifact, workspaceId, members }: ByWorkspaceProps) {
  const { others, share, visibility } = words.value;
  const name = seatIn(workspaceId)?.name ?? share.aWorkspace;
  return (
    <>
      <Way icon="people" name={others.admins(name)} why={others.adminsText} />
      {members && <Way icon="people" name={others.members(name)} why={others.membersText(visibility[artifact.visibility].name)} />}
    </>
  );
}

/** The row goes away with the button that has the focus. */
function focusTitle(): void {
  document.getElementById('others')?.focus();
}

interface GrantRowProps {
  readonly grant: ReachingGrant;
  readonly workspaceId: string;
  readonly counts: boolean;
}

function GrantRow({ grant, workspaceId, counts }: GrantRowProps) {
  const { others, outside } = words.value;
  const { subject_type, subject_name, resource_type, resource_name, capability, expires_at } = grant;
  const isOver = expires_at !== null && Date.parse(expires_at) <= Date.now();
  const by = resource_type !== 'folder' ? others.byItself : resource_name === null ? others.byHiddenFolder : others.byFolder(resource_name);
  const seat = seatIn(workspaceId);
  return (
    <li class="row-item">
      <span class="avatar is-square has-icon">
        <Icon name={subject_type === 'sharee' ? 'people' : 'person'} />
      </span>
      <div class="grow">
        <p class="row-title">
          {subject_name} <Tag>{outside.capabilities[capability].name}</Tag>
        </p>
        <p class="row-facts">
          <span>{by}</span>
          {expires_at !== null && <span>{isOver ? others.ended(ago(expires_at)) : others.ends(ago(expires_at))}</span>}
        </p>
        {!counts && <p class="row-note">{others.offNow}</p>}
      </div>
      {seat !== undefined &&
        mayManage(seat.slug) &&
        (resource_type === 'artifact' ? (
          <Button
            small
            aria-label={outside.endOf(subject_name)}
            onClick={() => {
              focusTitle();
              void endGrant(workspaceId, grant);
            }}
          >
            {outside.end}
          </Button>
        ) : (
          <a href={`/w/${seat.slug}/external`}>{others.changeThere}</a>
        ))}
    </li>
  );
}

function LinkRow({ artifactId, link }: { readonly artifactId: string; readonly link: PreviewLink }) {
  const { items = [] } = useVersions(artifactId);
  const { others, outside, versions } = words.value;
  const no = items.find(({ id }) => id === link.version_id)?.version_no;
  const version = no === undefined ? others.aVersion : versions.no(no);
  return (
    <li class="row-item">
      <span class="avatar is-square has-icon">
        <Icon name="link" />
      </span>
      <div class="grow">
        <p class="row-title">{others.preview(version)}</p>
        <p class="row-facts">{others.ends(ago(link.expires_at))}</p>
      </div>
      <Button
        small
        aria-label={others.endLink(version)}
        onClick={() => {
          focusTitle();
          void endPreviewLink(artifactId, link);
        }}
      >
        {outside.end}
      </Button>
    </li>
  );
}
