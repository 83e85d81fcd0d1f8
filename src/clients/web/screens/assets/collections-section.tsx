/** The collections that a file is in. */
import { useState } from 'preact/hooks';
import { putInto, takeOut, useCollections, useCollectionsOf } from '../../state/collections.ts';
import { tellProblem } from '../../state/toasts.ts';
import { Button } from '../../ui/button.tsx';
import { SelectField } from '../../ui/fields.tsx';
import { Loaded } from '../../ui/states.tsx';
import { words } from '../../words/words.ts';

interface CollectionsSectionProps {
  readonly slug: string | undefined;
  readonly fileId: string;
}

/** Nothing where the library has no collections. */
export function CollectionsSection({ slug, fileId }: CollectionsSectionProps) {
  const { items: known = [] } = useCollections(slug);
  const own = useCollectionsOf(slug, fileId);
  const [chosen, setChosen] = useState('');
  const { collections } = words.value;
  if (known.length === 0) return null;
  const others = known.filter(({ id }) => own.data?.every((one) => one.id !== id));
  const target = others.find(({ id }) => id === chosen) ?? others[0];
  const tried = (run: Promise<void>) => void run.catch(tellProblem);
  return (
    <section class="part asset-part" aria-labelledby="asset-collections">
      <h3 id="asset-collections">{collections.title}</h3>
      <Loaded of={own}>
        {(shown) => (
          <>
            {shown.length === 0 && <p class="soft">{collections.none}</p>}
            {shown.length > 0 && (
              <ul class="rows">
                {shown.map(({ id, name, itemCount }) => (
                  <li key={id} class="row-item">
                    <div class="grow">
                      <p class="row-title">{name}</p>
                      <p class="row-facts">{collections.files(itemCount)}</p>
                    </div>
                    <Button small aria-label={collections.takeOutOf(name)} onClick={() => tried(takeOut(slug, id, fileId))}>
                      {collections.takeOut}
                    </Button>
                  </li>
                ))}
              </ul>
            )}
            {target !== undefined && (
              <div class="row collections-bar">
                <SelectField
                  label={collections.put}
                  hideLabel
                  value={target.id as string}
                  options={others.map(({ id, name }) => ({ value: id as string, label: name }))}
                  onChoose={setChosen}
                />
                <Button onClick={() => tried(putInto(slug, target.id, fileId))}>{collections.add}</Button>
              </div>
            )}
          </>
        )}
      </Loaded>
    </section>
  );
}
