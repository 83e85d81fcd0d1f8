/** One file: how it looks, its name, its versions and its links. */
import { useState } from 'preact/hooks';
import { upload } from '../../state/asset-uploads.ts';
import { type Asset, type Deliverable, here, keyOf, makeDeliverable, removeAsset, rename, useVersions } from '../../state/assets.ts';
import { mayManage } from '../../state/place.ts';
import { changed } from '../../state/store.ts';
import { tell, tellProblem } from '../../state/toasts.ts';
import { Button, LinkButton } from '../../ui/button.tsx';
import { Confirm, Dialog } from '../../ui/dialog.tsx';
import { TextField } from '../../ui/fields.tsx';
import { Time } from '../../ui/small.tsx';
import { Loaded } from '../../ui/states.tsx';
import { bytesText } from '../../words/format.ts';
import { words } from '../../words/words.ts';
import { CollectionsSection } from './collections-section.tsx';
import { FileButton } from './file-button.tsx';
import { LinksSection } from './links-section.tsx';
import { OutsideSection } from './outside-section.tsx';

interface AssetProps {
  readonly slug?: string | undefined;
  readonly asset: Asset;
  readonly onClose: () => void;
}

/** What is refused is told; answers whether it was done. */
async function tried(run: () => Promise<unknown>): Promise<boolean> {
  try {
    await run();
    return true;
  } catch (error) {
    tellProblem(error);
    return false;
  }
}

export function AssetDialog({ slug, asset, onClose }: AssetProps) {
  const { assets } = words.value;
  const name = 'name' in asset ? asset.name : asset.filename;
  const [asks, setAsks] = useState(false);
  const [draft, setDraft] = useState(name);
  const [isTyped, setTyped] = useState(false);
  const isChanged = draft.trim() !== name || isTyped;
  const remove = async () => {
    if (!(await tried(() => removeAsset(slug, asset)))) return;
    tell(assets.removed);
    onClose();
  };
  const keep = async () => {
    if (await tried(() => makeDeliverable(slug, asset.id))) onClose();
    changed(keyOf(slug));
  };
  return (
    <Dialog title={name} wide isChanged={isChanged} onClose={onClose}>
      {asset.thumbnailUrl !== null && <img class="asset-preview" src={here(asset.thumbnailUrl)} alt="" />}
      <p class="soft">
        {bytesText(asset.sizeBytes)}, {asset.mimeType}, <Time at={asset.createdAt} />
      </p>
      <p class="row asset-actions">
        <LinkButton icon="down" href={here(asset.contentUrl)} download={name}>
          {assets.download}
        </LinkButton>
        {!('versionNo' in asset) && <Button onClick={() => void keep()}>{assets.keep}</Button>}
        <Button icon="trash" onClick={() => setAsks(true)}>
          {assets.remove}
        </Button>
      </p>
      {'versionNo' in asset && (
        <>
          <NameForm slug={slug} asset={asset} draft={draft} onDraft={setDraft} />
          <VersionsSection slug={slug} asset={asset} />
          <CollectionsSection slug={slug} fileId={asset.id} />
          <LinksSection slug={slug} fileId={asset.id} />
          {slug !== undefined && mayManage(slug) && <OutsideSection slug={slug} fileId={asset.id} onTyped={setTyped} />}
        </>
      )}
      {asks && (
        <Confirm
          title={assets.removeOf(name)}
          text={assets.removeText}
          action={assets.remove}
          onClose={() => setAsks(false)}
          onConfirm={() => void remove()}
        />
      )}
    </Dialog>
  );
}

interface NameProps extends Pick<AssetProps, 'slug'> {
  readonly asset: Deliverable;
  readonly draft: string;
  readonly onDraft: (draft: string) => void;
}

function NameForm({ slug, asset, draft, onDraft }: NameProps) {
  const { assets } = words.value;
  const save = async (event: SubmitEvent) => {
    event.preventDefault();
    if (await tried(() => rename(slug, asset.id, draft.trim()))) tell(assets.renamed);
  };
  return (
    <form class="part" onSubmit={save}>
      <TextField label={assets.name} value={draft} onText={onDraft} required maxLength={200} />
      <Button type="submit" small disabled={draft.trim() === '' || draft.trim() === asset.name}>
        {assets.rename}
      </Button>
    </form>
  );
}

function VersionsSection({ slug, asset }: Pick<NameProps, 'slug' | 'asset'>) {
  const versions = useVersions(slug, asset.id);
  const { assets } = words.value;
  return (
    <section class="part asset-part" aria-labelledby="asset-versions">
      <div class="section-head">
        <h3 id="asset-versions" class="grow">
          {assets.versions}
        </h3>
        <FileButton single label={assets.newVersion} onFiles={(files) => upload(slug, files, { fileId: asset.id })} />
      </div>
      <Loaded of={versions}>
        {(shown) => (
          <ul class="rows">
            {shown.map((version) => (
              <li key={version.versionNo} class="row-item">
                <div class="grow">
                  <p class="row-title">{assets.version(version.versionNo)}</p>
                  <p class="row-facts">
                    <span>{version.filename}</span>
                    <span>{bytesText(version.sizeBytes)}</span>
                    <Time at={version.createdAt} />
                  </p>
                </div>
                <LinkButton small href={here(version.contentUrl)} download={version.filename}>
                  {assets.download}
                </LinkButton>
              </li>
            ))}
          </ul>
        )}
      </Loaded>
    </section>
  );
}
