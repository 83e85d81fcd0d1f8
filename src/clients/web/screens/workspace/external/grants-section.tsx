/** What a workspace shares outside, all of it or with one organisation: with whom, what, until when, and its end. */
import { useState } from 'preact/hooks';
import type { Grant, Sharee } from '../../../api/client.ts';
import { endGrant, useGrants } from '../../../state/outside.ts';
import { Button } from '../../../ui/button.tsx';
import { Confirm } from '../../../ui/dialog.tsx';
import { Icon } from '../../../ui/icon.tsx';
import { Tag } from '../../../ui/small.tsx';
import { ProblemNote, Skeleton } from '../../../ui/states.tsx';
import { ago } from '../../../words/format.ts';
import { words } from '../../../words/words.ts';
import { More } from '../../more.tsx';
import { ShareOutsideDialog } from './share-outside-dialog.tsx';

interface GrantsSectionProps {
  readonly slug: string;
  readonly mayShare: boolean;
  /** Only what is shared with this one. */
  readonly sharee?: Pick<Sharee, 'id' | 'name'>;
}

export function GrantsSection({ slug, mayShare, sharee }: GrantsSectionProps) {
  const pages = useGrants(slug, { subjectId: sharee?.id });
  const [isSharing, setSharing] = useState(false);
  const { external } = words.value;
  const { items, problem } = pages;
  return (
    <section class="part" aria-labelledby="grants">
      <div class="section-head">
        <h3 id="grants" class="grow" tabIndex={-1}>
          {external.shared}
        </h3>
        <Button icon="plus" disabled={!mayShare} onClick={() => setSharing(true)}>
          {external.shareSomething}
        </Button>
      </div>
      {items === undefined && problem === undefined && <Skeleton shape="line" count={2} />}
      {items === undefined && problem !== undefined && <ProblemNote problem={problem} onRetry={pages.reload} />}
      {items?.length === 0 && (
        <p class="soft">
          {external.sharedEmpty} {external.sharedEmptyText}
        </p>
      )}
      {items !== undefined && items.length > 0 && (
        <ul class="rows">
          {items.map((grant) => (
            <GrantRow key={grant.id} slug={slug} grant={grant} namesSubject={sharee === undefined} />
          ))}
        </ul>
      )}
      <More pages={pages} />
      {isSharing && <ShareOutsideDialog slug={slug} {...(sharee && { sharee })} onClose={() => setSharing(false)} />}
    </section>
  );
}

interface GrantRowProps {
  readonly slug: string;
  readonly grant: Grant;
  readonly namesSubject: boolean;
}

function GrantRow({ slug, grant, namesSubject }: GrantRowProps) {
  const [asks, setAsks] = useState(false);
  const { external, outside, others } = words.value;
  const { subject_name, resource_type, resource_id, resource_name, capability, expires_at } = grant;
  const isFolder = resource_type === 'folder';
  const isFile = resource_type === 'file';
  const what = external.what(isFolder ? external.folder : isFile ? external.file : external.page, resource_name);
  const href = isFolder ? `/w/${slug}/folders/${resource_id}` : isFile ? `/w/${slug}/assets` : `/p/${resource_id}`;
  const isOver = expires_at !== null && Date.parse(expires_at) <= Date.now();
  const end = () => {
    document.getElementById('grants')?.focus();
    void endGrant(slug, grant);
  };
  return (
    <li class="row-item">
      <span class="avatar is-square has-icon">
        <Icon name={isFolder ? 'folder' : isFile ? 'file' : 'page'} />
      </span>
      <div class="grow">
        <p class="row-title">
          <a href={href}>{resource_name}</a> <Tag>{outside.capabilities[capability].name}</Tag>
        </p>
        <p class="row-facts">
          {namesSubject && <span>{subject_name}</span>}
          {expires_at !== null && <span>{isOver ? others.ended(ago(expires_at)) : others.ends(ago(expires_at))}</span>}
        </p>
      </div>
      {/* Who loses access by the end of a page is shown then; of a folder it cannot be told. */}
      <Button small aria-label={`${outside.endOf(subject_name)}: ${resource_name}`} onClick={() => (isFolder ? setAsks(true) : end())}>
        {outside.end}
      </Button>
      {asks && (
        <Confirm
          title={external.endTitle(subject_name)}
          text={external.endText(what)}
          action={outside.end}
          onClose={() => setAsks(false)}
          onConfirm={end}
        />
      )}
    </li>
  );
}
