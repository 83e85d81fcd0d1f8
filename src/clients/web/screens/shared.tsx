/** What others share with the signed-in person: by name, and from workspaces to which they do not belong. */
import type { Artifact, SharedItem } from '../api/client.ts';
import { here } from '../state/assets.ts';
import { useSharedByName, useSharedFromOutside } from '../state/loads.ts';
import { useTitle } from '../state/window.ts';
import { LinkButton } from '../ui/button.tsx';
import { Icon } from '../ui/icon.tsx';
import { Head, Tag, Time } from '../ui/small.tsx';
import { Empty, ProblemNote, ProblemState, Skeleton } from '../ui/states.tsx';
import { ago } from '../words/format.ts';
import { words } from '../words/words.ts';
import { ArtifactCard } from './artifact-card.tsx';
import { More } from './more.tsx';

export function SharedScreen() {
  const byName = useSharedByName();
  const outside = useSharedFromOutside();
  const { sharedWithMe: said } = words.value;
  useTitle(said.title);
  const isLoading = [byName, outside].some(({ items, problem }) => items === undefined && problem === undefined);
  const isEmpty = byName.items?.length === 0 && outside.items?.length === 0;
  const [problem] = [byName, outside].flatMap((pages) => (pages.items === undefined && pages.problem !== undefined ? [pages] : []));
  const hasNothing = byName.items === undefined && outside.items === undefined;
  return (
    <>
      <Head title={said.title} text={said.text} />
      {isLoading && <Skeleton shape="line" count={4} />}
      {isEmpty && <Empty icon="people" {...said.empty} command="npx easel shared" />}
      {!isLoading &&
        problem?.problem !== undefined &&
        (hasNothing ? (
          <ProblemState problem={problem.problem} onRetry={problem.reload} />
        ) : (
          <ProblemNote problem={problem.problem} onRetry={problem.reload} />
        ))}
      {outside.items !== undefined && outside.items.length > 0 && (
        <section class="part" aria-labelledby="from-outside">
          <h2 id="from-outside">{said.fromOutside}</h2>
          <ul class="rows">
            {outside.items.map((item) => (
              <SharedRow key={item.grant_id} item={item} />
            ))}
          </ul>
          <More pages={outside} />
        </section>
      )}
      {byName.items !== undefined && byName.items.length > 0 && (
        <section class="part" aria-labelledby="by-name">
          <h2 id="by-name">{said.byName}</h2>
          <ul class="cards">
            {byName.items.map((artifact: Artifact) => (
              <ArtifactCard key={artifact.id} artifact={artifact} mayChange={false} />
            ))}
          </ul>
          <More pages={byName} />
        </section>
      )}
    </>
  );
}

function SharedRow({ item }: { readonly item: SharedItem }) {
  const { sharedWithMe: said, outside } = words.value;
  const { name, workspace, through, resource_type, resource_id, url, capability, expires_at, shared_at } = item;
  const isPage = resource_type === 'artifact';
  const isFile = resource_type === 'file';
  return (
    <li class="row-item">
      <span class="avatar is-square has-icon">
        <Icon name={isPage ? 'page' : isFile ? 'file' : 'folder'} />
      </span>
      <div class="grow">
        <p class="row-title">
          {isPage ? <a href={`/p/${resource_id}`}>{name}</a> : name} <Tag>{outside.capabilities[capability].name}</Tag>
        </p>
        <p class="row-facts">
          <span>{said.from(workspace.name)}</span>
          {through !== null && <span>{said.through(through)}</span>}
          <Time at={shared_at} />
          {expires_at !== null && <span>{said.ends(ago(expires_at))}</span>}
        </p>
        {resource_type === 'folder' && <p class="row-note">{said.folderText}</p>}
      </div>
      {url !== null && isFile && (
        <LinkButton small href={here(url)} download={name}>
          {words.value.assets.download}
        </LinkButton>
      )}
      {url !== null && isPage && (
        <a class="btn btn-small" href={`/open?${new URLSearchParams({ slug: slugIn(url) }).toString()}`} target="_blank" rel="noopener">
          {words.value.library.visit}
        </a>
      )}
    </li>
  );
}

/** Pages are at `{slug}.` and the host of pages. */
function slugIn(url: string): string {
  return new URL(url).hostname.split('.')[0] ?? '';
}
