/** The files of a library, as pictures. */
import { useState } from 'preact/hooks';
import { upload } from '../../state/asset-uploads.ts';
import { type Asset, here, keyOf, useAssets, useUsedBytes } from '../../state/assets.ts';
import { Icon, type IconName } from '../../ui/icon.tsx';
import { Empty, ProblemState, Skeleton } from '../../ui/states.tsx';
import { bytesText } from '../../words/format.ts';
import { words } from '../../words/words.ts';
import { More } from '../more.tsx';
import { AssetDialog } from './asset-dialog.tsx';
import { CollectionsBar } from './collections-bar.tsx';
import { FileButton } from './file-button.tsx';
import { UploadList } from './upload-list.tsx';

const nameOf = (asset: Asset) => ('name' in asset ? asset.name : asset.filename);

function iconOf({ mimeType }: Asset): IconName {
  return mimeType.startsWith('image/') ? 'image' : mimeType.startsWith('video/') ? 'screen' : 'file';
}

/** `slug`: of the workspace; absent for one's own. */
export function AssetsPart({ slug }: { readonly slug?: string }) {
  const [collection, setCollection] = useState<string>();
  const pages = useAssets(slug, collection);
  const used = useUsedBytes(slug);
  const [isOver, setOver] = useState(false);
  const [shown, setShown] = useState<string>();
  const { assets, collections } = words.value;
  const { items } = pages;
  const open = items?.find(({ id }) => id === shown);
  const take = (files: readonly File[]) => upload(slug, files, { collectionId: collection });
  const drop = (event: DragEvent) => {
    event.preventDefault();
    setOver(false);
    take([...(event.dataTransfer?.files ?? [])]);
  };
  const over = (event: DragEvent) => {
    if (!event.dataTransfer?.types.includes('Files')) return;
    event.preventDefault();
    setOver(true);
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: files can also be chosen with the button
    <section class={isOver ? 'asset-drop is-over' : 'asset-drop'} onDragOver={over} onDragLeave={() => setOver(false)} onDrop={drop}>
      <div class="section-head">
        <div class="grow">
          <p class="soft">{assets.text}</p>
          {used.data !== undefined && used.data > 0 && <p class="soft small">{assets.used(bytesText(used.data))}</p>}
        </div>
        {items !== undefined && items.length > 0 && <FileButton label={assets.upload} onFiles={take} />}
      </div>
      <CollectionsBar slug={slug} chosen={collection} onChoose={setCollection} />
      <UploadList of={keyOf(slug)} />
      {items === undefined && pages.problem === undefined && <Skeleton shape="card" count={4} />}
      {items === undefined && pages.problem !== undefined && <ProblemState problem={pages.problem} onRetry={pages.reload} />}
      {items?.length === 0 && (
        <Empty
          icon="image"
          {...(collection === undefined ? assets.empty : collections.empty)}
          command={`npx easel assets upload logo.png${slug === undefined ? '' : ` -w ${slug}`}`}
        >
          <FileButton label={assets.upload} onFiles={take} />
        </Empty>
      )}
      {items !== undefined && items.length > 0 && (
        <ul class="cards">
          {items.map((asset) => (
            <AssetCard key={asset.id} asset={asset} onOpen={() => setShown(asset.id)} />
          ))}
        </ul>
      )}
      <More pages={pages} />
      {open !== undefined && <AssetDialog {...(slug !== undefined && { slug })} asset={open} onClose={() => setShown(undefined)} />}
    </section>
  );
}

function AssetCard({ asset, onOpen }: { readonly asset: Asset; readonly onOpen: () => void }) {
  const { assets } = words.value;
  const name = nameOf(asset);
  return (
    <li class="card asset">
      <button type="button" class="card-link" aria-label={assets.open(name)} onClick={onOpen}>
        <span class="card-picture asset-picture">
          {asset.thumbnailUrl === null ? (
            <Icon name={iconOf(asset)} size={40} />
          ) : (
            <img src={here(asset.thumbnailUrl)} alt="" loading="lazy" />
          )}
        </span>
        <span class="card-name">{name}</span>
        <span class="card-facts">
          <span>{'versionNo' in asset ? assets.version(asset.versionNo) : assets.loose}</span>
          <span class="dot" />
          <span>{bytesText(asset.sizeBytes)}</span>
        </span>
      </button>
    </li>
  );
}
