/** The rules of a source: into which folder its files go, and how. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { branchesOf } from '../../../shell/sidebar.tsx';
import { type AnyFolder, useFolders } from '../../../state/loads.ts';
import { Button } from '../../../ui/button.tsx';
import { SelectField, Switch } from '../../../ui/fields.tsx';
import { Loaded } from '../../../ui/states.tsx';
import { words } from '../../../words/words.ts';
import { FolderDialog } from '../../folder-dialog.tsx';

export interface Rules {
  /** Null until one is chosen. */
  readonly targetFolderId: string | null;
  readonly convert: boolean;
  readonly dailySync: boolean;
}

interface FieldsProps {
  readonly slug: string;
  readonly rules: Rules;
  readonly onRules: (rules: Rules) => void;
}

export function SourceFields({ slug, rules, onRules }: FieldsProps) {
  const { imports } = words.value;
  const folders = useFolders(slug);
  const [isMaking, setMaking] = useState(false);
  const known = useRef<ReadonlySet<string> | undefined>(undefined);
  useEffect(() => {
    if (folders.data === undefined) return;
    const before = known.current;
    known.current = new Set(folders.data.map(({ id }) => id));
    // The first one at the start, and later the one that was just made here.
    const fresh = before === undefined ? (rules.targetFolderId === null ? folders.data[0] : undefined) : freshIn(folders.data, before);
    if (fresh !== undefined) onRules({ ...rules, targetFolderId: fresh.id });
  }, [folders.data]);
  return (
    <>
      <Loaded of={folders}>
        {(list) => (
          <div class="import-target">
            {list.length === 0 ? (
              <p class="grow soft">{imports.noFolders}</p>
            ) : (
              <div class="grow">
                <SelectField
                  label={imports.target}
                  hint={imports.targetHint}
                  value={rules.targetFolderId ?? ''}
                  options={[
                    ...(list.some(({ id }) => id === rules.targetFolderId) ? [] : [{ value: rules.targetFolderId ?? '', label: '–' }]),
                    ...branchesOf(list).map(({ folder, depth }) => ({ value: folder.id, label: `${'– '.repeat(depth)}${folder.name}` })),
                  ]}
                  onChoose={(targetFolderId) => onRules({ ...rules, targetFolderId })}
                />
              </div>
            )}
            <Button icon="plus" onClick={() => setMaking(true)}>
              {imports.newFolder}
            </Button>
          </div>
        )}
      </Loaded>
      <Switch
        label={imports.convert}
        hint={imports.convertHint}
        isOn={rules.convert}
        onTurn={(convert) => onRules({ ...rules, convert })}
      />
      <Switch
        label={imports.daily}
        hint={imports.dailyHint}
        isOn={rules.dailySync}
        onTurn={(dailySync) => onRules({ ...rules, dailySync })}
      />
      {isMaking && <FolderDialog place={slug} onClose={() => setMaking(false)} />}
    </>
  );
}

function freshIn(folders: readonly AnyFolder[], before: ReadonlySet<string>): AnyFolder | undefined {
  const fresh = folders.filter(({ id }) => !before.has(id));
  return fresh.length === 1 ? fresh[0] : undefined;
}
