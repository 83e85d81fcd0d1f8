/** The visual language, with the components that the app is made of, as they are. Open to everybody; it calls nothing. */
import { useState } from 'preact/hooks';
import { COLOURS, GAPS, TYPE_SIZES } from '../../../edge/tokens.ts';
import { Problem } from '../api/problem.ts';
import { chooseTheme, theme } from '../state/prefs.ts';
import { tell, tellProblem } from '../state/toasts.ts';
import { useTitle } from '../state/window.ts';
import { Button, IconButton, LinkButton } from '../ui/button.tsx';
import { Code } from '../ui/copy.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Drawing } from '../ui/drawing.tsx';
import { AreaField, RadioCards, SelectField, Switch, TextField } from '../ui/fields.tsx';
import { Icon } from '../ui/icon.tsx';
import { Menu } from '../ui/menu.tsx';
import { Avatar, Tag, VisibilityTag } from '../ui/small.tsx';
import { Empty, ProblemState, Skeleton } from '../ui/states.tsx';
import { words } from '../words/words.ts';

const DRAWINGS = Array.from({ length: 12 }, (_, at) => `drawing-${at}`);

export function DesignScreen() {
  useTitle('Design');
  const { account } = words.value;
  return (
    <main class="design" id="content">
      <header>
        <a class="brand" href="/">
          <img src="/_app/icon.svg" alt="" width="24" height="24" />
          Easel
        </a>
        <fieldset class="segments" aria-label={account.theme}>
          {(['system', 'light', 'dark'] as const).map((one) => (
            <button key={one} type="button" class="segment" aria-pressed={theme.value === one} onClick={() => chooseTheme(one)}>
              {account[one]}
            </button>
          ))}
        </fieldset>
      </header>
      <h1 class="design-title">Paper, ink, one warm accent</h1>
      <p class="soft">Everything below is alive: the components of the app itself, made from the tokens that all our pages share.</p>
      <Colours />
      <Type />
      <Buttons />
      <Fields />
      <Parts />
      <States />
    </main>
  );
}

function Colours() {
  return (
    <>
      <section>
        <h2>Colour</h2>
        <p>
          Surfaces are warm paper; text on any of them has a contrast of 4.5 : 1 at least. State colours come in pairs of ink and paper.
        </p>
        <div class="swatches">
          {Object.values(COLOURS)
            .flat()
            .map((name) => (
              <div key={name} class="swatch">
                <svg aria-hidden="true">
                  <rect width="100%" height="100%" fill={`var(--${name})`} />
                </svg>
                <code>--{name}</code>
              </div>
            ))}
        </div>
      </section>
      <section>
        <h2>Drawings</h2>
        <p>A page that has no picture gets a drawing from its id: the same one everywhere, without a request.</p>
        <div class="drawings">
          {DRAWINGS.map((seed) => (
            <span key={seed}>
              <Drawing seed={seed} />
            </span>
          ))}
        </div>
      </section>
    </>
  );
}

function Type() {
  return (
    <>
      <section>
        <h2>Type</h2>
        <p>The system’s own sans for work, a book face for the few words that greet, a fixed one for what is copied.</p>
        {TYPE_SIZES.map((size) => (
          <div key={size} class="specimen">
            <code>--text-{size}</code>
            <span class={`text-${size}`}>A folder of pages</span>
          </div>
        ))}
      </section>
      <section>
        <h2>Space</h2>
        <p>Eight distances, each for a closer or looser relation.</p>
        <div class="bars">
          {GAPS.map((number) => `--gap-${number}`).map((gap) => (
            <div key={gap}>
              <code>{gap}</code>
              <svg width="80" height="14" aria-hidden="true">
                <rect height="14" fill="var(--accent)" width={`var(${gap})`} style={{ width: `var(${gap})` }} />
              </svg>
            </div>
          ))}
        </div>
      </section>
    </>
  );
}

function Buttons() {
  const [isOpen, setOpen] = useState(false);
  return (
    <section>
      <h2>Buttons, menus, dialogs</h2>
      <p>One main button a screen. A menu holds what is rare; a dialog keeps what was typed until it is saved or given up.</p>
      <div class="show">
        <Button look="main" icon="up">
          Publish
        </Button>
        <Button icon="folder">New folder</Button>
        <Button look="quiet">Quiet</Button>
        <Button look="danger" icon="trash">
          Move to trash
        </Button>
        <Button look="main" isBusy>
          Saving
        </Button>
        <Button disabled>Not now</Button>
        <LinkButton href="/design" icon="external">
          Link
        </LinkButton>
        <IconButton icon="copy" label="Copy" />
        <Menu
          label="Actions"
          items={() => [
            { label: 'Rename', icon: 'pen', run: () => tell('Renamed.') },
            { label: 'Move to folder…', icon: 'folder', run: () => tell('Moved.', { label: 'Undo', run: () => tell('It is back.') }) },
            { kind: 'line' },
            {
              label: 'Move to trash',
              icon: 'trash',
              isDanger: true,
              run: () => tellProblem(new Problem({ status: 403, code: 'FORBIDDEN', message: 'Only its owner may do this.' })),
            },
          ]}
        />
        <Button onClick={() => setOpen(true)}>Open a dialog</Button>
      </div>
      {isOpen && <ExampleDialog onClose={() => setOpen(false)} />}
    </section>
  );
}

function ExampleDialog({ onClose }: { readonly onClose: () => void }) {
  const [name, setName] = useState('');
  return (
    <Dialog title="New folder" onClose={onClose} isChanged={name !== ''}>
      <TextField label="Name of the folder" value={name} onText={setName} autoFocus />
      <div class="dialog-foot">
        <Button onClick={onClose}>Cancel</Button>
        <Button look="main" onClick={onClose}>
          Make folder
        </Button>
      </div>
    </Dialog>
  );
}

function Fields() {
  const [text, setText] = useState('Quarterly numbers');
  const [isOn, setOn] = useState(true);
  const [choice, setChoice] = useState<'private' | 'public'>('private');
  const { visibility } = words.value;
  return (
    <section>
      <h2>Fields</h2>
      <p>The label stands above, the hint below; what is wrong is said where it is.</p>
      <div class="show">
        <TextField label="Name" value={text} onText={setText} />
        <TextField label="Address" value="my page" onText={setText} error="must be lowercase letters, digits and hyphens" />
        <SelectField label="Role" value="member" options={[{ value: 'member', label: 'Member' }]} onChoose={() => undefined} />
        <AreaField label="Note" hint="Shown beside the version." value="" onText={setText} />
      </div>
      <div class="show is-block">
        <RadioCards
          label={visibility.choose}
          value={choice}
          options={[
            { value: 'private', ...visibility.private, icon: <Icon name="lock" /> },
            { value: 'public', ...visibility.public, icon: <Icon name="globe" /> },
          ]}
          onChoose={setChoice}
        />
        <Switch label="Edit together" hint="Join the page’s live documents." isOn={isOn} onTurn={setOn} />
      </div>
    </section>
  );
}

function Parts() {
  return (
    <section>
      <h2>Parts</h2>
      <p>Tags tell states, faces tell people, code is there to be copied.</p>
      <div class="show">
        <Tag>Draft</Tag>
        <Tag tone="good" icon="check">
          Live
        </Tag>
        <Tag tone="warn">Waits for approval</Tag>
        <Tag tone="info">New</Tag>
        <Tag tone="accent">Pinned</Tag>
        <VisibilityTag visibility="private" />
        <VisibilityTag visibility="public" />
        {['Ada Lovelace', 'Grace Hopper', 'Mary Shelley', 'Joan Clarke'].map((name) => (
          <Avatar key={name} name={name} />
        ))}
        <kbd>Ctrl K</kbd>
      </div>
      <div class="show is-block">
        <Code text="npx easel publish ./my-site" />
      </div>
    </section>
  );
}

function States() {
  return (
    <section>
      <h2>States</h2>
      <p>Nothing there, on its way, refused, offline: each says the next step.</p>
      <div class="show is-block">
        <Empty
          icon="folder"
          title="This folder is empty"
          text="Drag pages here, or drop a folder of files."
          command="npx easel publish ./my-site"
        />
      </div>
      <div class="show is-block">
        <Skeleton shape="line" count={2} />
      </div>
      <div class="show is-block">
        <ProblemState problem={new Problem({ status: 0, code: 'OFFLINE', message: 'No answer.' })} onRetry={() => tell('Tried again.')} />
      </div>
    </section>
  );
}
