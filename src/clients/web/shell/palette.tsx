/** The palette: every place, action and page by its name, and what the pages say to a question, from the keyboard. */
import { signal } from '@preact/signals';
import { useEffect, useId, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import type { SearchHit } from '../../../../protocol/library/search.ts';
import { openPublish } from '../publish/state.ts';
import { useFolders } from '../state/loads.ts';
import { opened } from '../state/prefs.ts';
import { me } from '../state/session.ts';
import { Icon, type IconName } from '../ui/icon.tsx';
import { Toasts, useToastsIn } from '../ui/toasts.tsx';
import { words } from '../words/words.ts';
import { PaletteAnswer } from './palette-answer.tsx';
import { GROUP_ICONS, Marked, SHOWN_GROUPS, screenOf, useFound } from './palette-hits.tsx';

export const isPaletteOpen = signal(false);

interface Entry {
  readonly key: string;
  readonly group: string;
  readonly icon: IconName;
  readonly name: string;
  readonly detail?: string;
  readonly snippet?: SearchHit['snippet'];
  readonly run: () => void;
}

/** Compares without case and accents. */
function plain(text: string): string {
  return text.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase();
}

const ASK_KEY = 'ask';

function useEntries(text: string, close: () => void, onAsk: () => void) {
  const { route } = useLocation();
  const folders = useFolders('mine');
  const { found, isSearching } = useFound(text);
  const { nav, palette, account, inbox, sharedWithMe, ask } = words.value;
  const entries = useMemo(() => {
    const go = (path: string) => () => {
      close();
      route(path);
    };
    const leave = (path: string) => () => location.assign(path);
    const places: Entry[] = [
      { key: 'mine', group: palette.places, icon: 'pages', name: nav.mine, run: go('/') },
      { key: 'inbox', group: palette.places, icon: 'inbox', name: inbox.title, run: go('/my/inbox') },
      { key: 'asking', group: palette.places, icon: 'comment', name: ask.title, run: go('/ask') },
      { key: 'favorites', group: palette.places, icon: 'star', name: nav.favorites, run: go('/my/favorites') },
      { key: 'shared', group: palette.places, icon: 'people', name: sharedWithMe.nav, run: go('/my/shared') },
      { key: 'trash', group: palette.places, icon: 'trash', name: nav.trash, run: go('/my/trash') },
      ...(me.value?.workspaces ?? []).flatMap(({ slug, name }): Entry[] => [
        { key: `w:${slug}`, group: palette.places, icon: 'people', name, run: go(`/w/${slug}`) },
        { key: `w:${slug}:people`, group: palette.places, icon: 'people', name: `${name}: ${nav.people}`, run: go(`/w/${slug}/people`) },
      ]),
      ...(folders.data ?? []).map(
        ({ id, name }): Entry => ({ key: id, group: palette.places, icon: 'folder', name, run: go(`/my/folders/${id}`) }),
      ),
    ];
    const doing: Entry[] = [
      {
        key: 'publish',
        group: palette.doing,
        icon: 'up',
        name: nav.publish,
        run: () => {
          close();
          openPublish();
        },
      },
      { key: 'account', group: palette.doing, icon: 'person', name: account.account, run: leave('/account') },
      { key: 'docs', group: palette.doing, icon: 'book', name: account.reference, run: leave('/docs') },
    ];
    const recent = opened.value.map(
      ({ id, name }): Entry => ({ key: `r:${id}`, group: palette.recent, icon: 'clock', name, run: go(`/p/${id}`) }),
    );
    const hits = SHOWN_GROUPS.flatMap((group) =>
      (found.hits[group] ?? []).flatMap((hit): Entry[] => {
        const screen = screenOf(hit);
        if (screen === null) return [];
        const { id, title, subtitle, snippet } = hit;
        return [
          {
            ...{ key: `${group}:${id}`, group: palette.groups[group], icon: GROUP_ICONS[group], name: title, snippet, run: go(screen) },
            ...(subtitle !== null && { detail: subtitle }),
          },
        ];
      }),
    );
    if (text === '') return [...recent, ...places, ...doing];
    const fits = ({ name }: Entry) => plain(name).includes(plain(text));
    // Folders are among what was found.
    const asking: Entry = { key: ASK_KEY, group: ask.group, icon: 'comment', name: ask.row(text), run: onAsk };
    return [...hits, ...places.filter((place) => place.icon !== 'folder' && fits(place)), ...doing.filter(fits), asking];
  }, [text, found, folders.data, words.value]);
  return { entries, isSearching };
}

export function Palette() {
  const dialog = useRef<HTMLDialogElement>(null);
  const input = useRef<HTMLInputElement>(null);
  const [typed, setTyped] = useState('');
  const [at, setAt] = useState(0);
  const [question, setQuestion] = useState<string>();
  const id = useId();
  useToastsIn(id);
  const text = typed.trim();
  const close = () => {
    isPaletteOpen.value = false;
  };
  // The field keeps the focus: what is typed next is another question, or another search.
  const show = (wanted: string | undefined) => {
    setQuestion(wanted);
    input.current?.focus();
  };
  const ask = () => {
    if (text !== '') show(text);
  };
  const { entries, isSearching } = useEntries(text, close, ask);
  const chosen = Math.min(at, entries.length - 1);
  const { palette } = words.value;
  // Before the next key: what somebody types right after Ctrl+K belongs into the field.
  useLayoutEffect(() => {
    dialog.current?.showModal();
  }, []);
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.key === 'Enter') {
      event.preventDefault();
      const entry = entries[chosen];
      if (event.ctrlKey || event.metaKey) ask();
      // What is found a moment later stands above the question, and is what the key is meant for.
      else if (question === undefined && (entry?.key !== ASK_KEY || !isSearching || at > 0)) entry?.run();
    } else if (step !== undefined && question === undefined) {
      event.preventDefault();
      setAt((chosen + step + entries.length) % Math.max(entries.length, 1));
    }
  };
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Escape closes a native dialog
    <dialog
      ref={dialog}
      class="palette"
      aria-label={palette.label}
      onClose={close}
      onClick={(event) => {
        if (event.target === dialog.current) close();
      }}
    >
      <div class="palette-head">
        <Icon name="search" />
        <input
          ref={input}
          class="palette-input"
          role="combobox"
          type="text"
          autocomplete="off"
          spellcheck={false}
          maxLength={LIMITS.askQuestionCharsMax}
          aria-label={palette.label}
          aria-expanded={question === undefined}
          aria-controls={id}
          aria-activedescendant={question === undefined && entries.length > 0 ? `${id}-${chosen}` : undefined}
          placeholder={palette.placeholder}
          value={typed}
          onInput={(event) => {
            setTyped(event.currentTarget.value);
            setAt(0);
            setQuestion(undefined);
          }}
          onKeyDown={onKeyDown}
        />
        {isSearching && <span class="spinner" aria-hidden="true" />}
      </div>
      {question === undefined ? (
        <PaletteList id={id} text={text} entries={entries} chosen={chosen} isSearching={isSearching} onPoint={setAt} />
      ) : (
        <PaletteAnswer id={id} text={question} onBack={() => show(undefined)} onLeave={close} />
      )}
      <PaletteFoot />
      <Toasts dialogId={id} />
    </dialog>
  );
}

interface PaletteListProps {
  readonly id: string;
  readonly text: string;
  readonly entries: readonly Entry[];
  readonly chosen: number;
  readonly isSearching: boolean;
  readonly onPoint: (at: number) => void;
}

function PaletteList({ id, text, entries, chosen, isSearching, onPoint }: PaletteListProps) {
  const { palette } = words.value;
  useEffect(() => {
    document.getElementById(`${id}-${chosen}`)?.scrollIntoView({ block: 'nearest' });
  }, [chosen, id]);
  const found = entries.filter(({ key }) => key !== ASK_KEY).length;
  return (
    <>
      {found === 0 && !isSearching && (
        <div class="palette-none">
          <p>{palette.none(text)}</p>
          <p class="soft small">{palette.noneHint}</p>
        </div>
      )}
      <div class="palette-list" role="listbox" id={id} aria-label={palette.label}>
        {entries.map((entry, index) => (
          <PaletteEntry
            key={entry.key}
            entry={entry}
            id={`${id}-${index}`}
            isChosen={index === chosen}
            isFirst={entries[index - 1]?.group !== entry.group}
            onPoint={() => onPoint(index)}
          />
        ))}
      </div>
      <p class="unseen" role="status">
        {isSearching ? palette.searching : palette.results(found)}
      </p>
    </>
  );
}

function PaletteFoot() {
  const { palette, ask } = words.value;
  return (
    <div class="palette-foot" aria-hidden="true">
      <span>
        <kbd>↑</kbd> <kbd>↓</kbd> {palette.hint.move}
      </span>
      <span>
        <kbd>↵</kbd> {palette.hint.choose}
      </span>
      <span>
        <kbd>{navigator.platform.startsWith('Mac') ? '⌘' : 'Ctrl'}</kbd> <kbd>↵</kbd> {ask.hint}
      </span>
      <span>
        <kbd>esc</kbd> {palette.hint.close}
      </span>
    </div>
  );
}

interface PaletteEntryProps {
  readonly entry: Entry;
  readonly id: string;
  readonly isChosen: boolean;
  readonly isFirst: boolean;
  readonly onPoint: () => void;
}

function PaletteEntry({ entry, id, isChosen, isFirst, onPoint }: PaletteEntryProps) {
  return (
    <>
      {isFirst && (
        <div class="palette-group" role="presentation">
          {entry.group}
        </div>
      )}
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: the field above has the focus and takes the keys */}
      {/* biome-ignore lint/a11y/useFocusableInteractive: the same */}
      <div id={id} role="option" aria-selected={isChosen} class="palette-entry" onPointerMove={onPoint} onClick={entry.run}>
        <Icon name={entry.icon} />
        <span class="palette-name">
          {entry.name}
          {entry.snippet && <Marked {...entry.snippet} />}
        </span>
        {entry.detail !== undefined && entry.detail !== entry.name && <span class="palette-detail">{entry.detail}</span>}
      </div>
    </>
  );
}
