/** One client organisation: its details, its people, what is shared with it, notes about it, and what it has opened. */
import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { api, type Sharee } from '../../../api/client.ts';
import { useMayShareOutside } from '../../../state/outside.ts';
import { mayManage, seatIn } from '../../../state/place.ts';
import { useSharee } from '../../../state/sharees.ts';
import { changed, forget } from '../../../state/store.ts';
import { optimistic, tell } from '../../../state/toasts.ts';
import { useTitle } from '../../../state/window.ts';
import { Button } from '../../../ui/button.tsx';
import { Confirm } from '../../../ui/dialog.tsx';
import { Head, Tag } from '../../../ui/small.tsx';
import { Empty, Loaded } from '../../../ui/states.tsx';
import { words } from '../../../words/words.ts';
import { WorkspaceTabs } from '../tabs.tsx';
import { DetailsForm } from './details-form.tsx';
import { NotEntitled } from './external-part.tsx';
import { GrantsSection } from './grants-section.tsx';
import { MembersSection } from './members-section.tsx';
import { NotesSection } from './notes-section.tsx';
import { ReceiptsSection } from './receipts-section.tsx';

export function ShareeScreen({ slug, shareeId }: { readonly slug: string; readonly shareeId: string }) {
  const { workspace } = words.value;
  const seat = seatIn(slug);
  if (seat === undefined) return <Empty icon="search" {...workspace.missing} />;
  if (!mayManage(slug)) return <Empty icon="lock" {...workspace.forbidden} />;
  return <Screen key={shareeId} slug={seat.slug} workspace={seat.name} shareeId={shareeId} />;
}

interface ScreenProps {
  readonly slug: string;
  readonly workspace: string;
  readonly shareeId: string;
}

function Screen({ slug, workspace, shareeId }: ScreenProps) {
  const loaded = useSharee(slug, shareeId);
  const entitled = useMayShareOutside(slug);
  const mayShare = entitled.data?.enabled !== false;
  const { external } = words.value;
  useTitle(loaded.data?.value.name ?? external.title);
  return (
    <>
      <Head title={workspace} />
      <WorkspaceTabs slug={slug} />
      <Loaded of={loaded} shape="block" missing={external.missing}>
        {({ value: sharee, etag }) => (
          <div class="narrow">
            <nav class="crumbs" aria-label={words.value.folders.in}>
              <a href={`/w/${slug}/external`}>{external.title}</a>
            </nav>
            <div class="section-head">
              <h2 class="grow">
                {sharee.name} {sharee.type !== null && <Tag>{sharee.type}</Tag>}
              </h2>
              <Brand sharee={sharee} />
            </div>
            {!mayShare && <NotEntitled slug={slug} />}
            <MembersSection slug={slug} sharee={sharee} mayShare={mayShare} />
            <GrantsSection slug={slug} sharee={sharee} mayShare={mayShare} />
            <NotesSection slug={slug} shareeId={sharee.id} mayShare={mayShare} />
            <ReceiptsSection slug={slug} shareeId={sharee.id} />
            <DetailsForm slug={slug} sharee={sharee} etag={etag} />
            <Danger slug={slug} sharee={sharee} />
          </div>
        )}
      </Loaded>
    </>
  );
}

/** Its colour. The policy of the app admits no picture from another host, so that its logo is a link. */
function Brand({ sharee }: { readonly sharee: Sharee }) {
  const { logo, color } = sharee.branding;
  return (
    <p class="row tight">
      {color !== null && (
        <svg class="swatch" viewBox="0 0 20 20" width="20" height="20" role="img" aria-label={color}>
          <circle cx="10" cy="10" r="9" fill={color} />
        </svg>
      )}
      {logo !== null && (
        <a href={logo} target="_blank" rel="noopener noreferrer">
          {words.value.external.logoOf(sharee.name)}
        </a>
      )}
    </p>
  );
}

function Danger({ slug, sharee }: { readonly slug: string; readonly sharee: Sharee }) {
  const [asks, setAsks] = useState(false);
  const { route } = useLocation();
  const { external, settings } = words.value;
  const remove = async () => {
    const params = { workspaceId: slug, shareeId: sharee.id };
    const done = await optimistic(
      () => undefined,
      () => api.sharees.delete({ params }),
    );
    if (done !== undefined) {
      tell(external.deleted(sharee.name));
      route(`/w/${slug}/external`);
    }
    // What is shown of itself is not asked for again.
    changed(`sharees:${slug}`);
    forget(`grants:${slug}`, `receipts:${slug}`, 'access:');
  };
  return (
    <section class="panel is-danger">
      <h3>{settings.danger}</h3>
      <p class="soft">{external.deleteText}</p>
      <p>
        <Button look="danger" icon="trash" onClick={() => setAsks(true)}>
          {external.delete}
        </Button>
      </p>
      {asks && (
        <Confirm
          title={external.delete}
          text={external.deleteText}
          action={external.delete}
          onClose={() => setAsks(false)}
          onConfirm={() => void remove()}
        />
      )}
    </section>
  );
}
