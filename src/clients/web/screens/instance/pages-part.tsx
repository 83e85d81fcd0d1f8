/** Pages of the installation: found, suspended, and seen as a visitor sees them. What is in them is not shown. */
import { useState } from 'preact/hooks';
import type { InstanceArtifact } from '../../api/client.ts';
import { changePage, type Suspended, useInstancePage, useInstancePages } from '../../state/instance.ts';
import { LinkButton } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Icon } from '../../ui/icon.tsx';
import { Tag, Time, VisibilityTag } from '../../ui/small.tsx';
import { Loaded } from '../../ui/states.tsx';
import { dateText } from '../../words/format.ts';
import { instanceWords } from '../../words/instance-words.ts';
import { ListOf } from '../list-of.tsx';
import { Fact, IdFact, Named, type PartProps, PersonLink, SearchBox, SuspendedFilter, WorkspaceLink } from './common.tsx';
import { SuspensionSection } from './suspension-section.tsx';

export function PagesPart({ q: initial, owner }: PartProps) {
  const [q, setQ] = useState(initial);
  const [suspended, setSuspended] = useState<Suspended>('all');
  const [openId, setOpenId] = useState<string>();
  const list = useInstancePages({ q, ownerId: owner, suspended });
  const said = instanceWords.value;
  const isFiltered = q !== '' || suspended !== 'all' || owner !== undefined;
  return (
    <>
      {owner !== undefined && (
        <p class="row instance-intro">
          <Named id={owner}>{(who) => <strong>{said.pages.ofPerson(who)}</strong>}</Named>
          <a href="/instance/pages">{said.pages.allPages}</a>
        </p>
      )}
      <div class="instance-tools">
        <SearchBox label={said.pages.search} initial={initial} onSearch={setQ} />
        <SuspendedFilter value={suspended} onChoose={setSuspended} />
      </div>
      <ListOf pages={list} icon="pages" empty={isFiltered ? said.noneFound : said.pages.empty}>
        {(page) => <PageRow key={page.id} page={page} onOpen={() => setOpenId(page.id)} />}
      </ListOf>
      {openId !== undefined && <PageDialog key={openId} id={openId} onClose={() => setOpenId(undefined)} />}
    </>
  );
}

function PageRow({ page, onOpen }: { readonly page: InstanceArtifact; readonly onOpen: () => void }) {
  const said = instanceWords.value;
  const { name, slug, visibility, owner, suspended, updated_at, deleted_at } = page;
  return (
    <li class="row-item">
      <Icon name="page" size={20} />
      <div class="grow">
        <p class="row-title">
          <button type="button" class="row-open" aria-label={said.open(name)} onClick={onOpen}>
            {name}
          </button>
          {suspended !== null && <Tag tone="warn">{said.suspended}</Tag>}
          {deleted_at !== null && <Tag>{said.pages.inTrash}</Tag>}
        </p>
        <p class="row-facts">
          <span>{slug}</span>
          <span>{owner === null ? said.pages.ofWorkspace : (owner.name ?? owner.email ?? said.people.nameless)}</span>
          <Time at={updated_at} />
        </p>
      </div>
      <VisibilityTag visibility={visibility} />
    </li>
  );
}

function PageDialog({ id, onClose }: { readonly id: string; readonly onClose: () => void }) {
  const loaded = useInstancePage(id);
  return (
    <Dialog title={loaded.data?.shown.name ?? instanceWords.value.tabs.pages} wide onClose={onClose}>
      <Loaded of={loaded} shape="block">
        {(read) => (
          <div class="instance-sections">
            <PageFacts page={read.shown} />
            <SuspensionSection
              of="page"
              name={read.shown.name}
              expected={read.shown.slug}
              suspended={read.shown.suspended}
              change={(suspended) => changePage(read, { suspended })}
            />
          </div>
        )}
      </Loaded>
    </Dialog>
  );
}

function PageFacts({ page }: { readonly page: InstanceArtifact }) {
  const { pages, people } = instanceWords.value;
  const { id, slug, url, visibility, owner, workspace_id, created_at, updated_at, deleted_at } = page;
  return (
    <section class="panel">
      <dl class="instance-facts">
        <Fact name={pages.address}>{slug}</Fact>
        <Fact name={pages.visibility}>
          <VisibilityTag visibility={visibility} /> {deleted_at !== null && <Tag>{pages.inTrash}</Tag>}
        </Fact>
        <Fact name={pages.owner}>
          {owner === null ? (
            pages.ofWorkspace
          ) : (
            <>
              {owner.name ?? owner.email ?? people.nameless} <PersonLink id={owner.id} />
            </>
          )}
        </Fact>
        {workspace_id !== null && (
          <Fact name={pages.workspace}>
            <WorkspaceLink id={workspace_id} />
          </Fact>
        )}
        <Fact name={pages.made}>{dateText(created_at)}</Fact>
        <Fact name={pages.changed}>{dateText(updated_at)}</Fact>
        <IdFact id={id} />
      </dl>
      <div class="row">
        <LinkButton small icon="eye" href={url} target="_blank" rel="noopener">
          {pages.visitor}
        </LinkButton>
        <span class="soft small">{pages.visitorText}</span>
      </div>
    </section>
  );
}
