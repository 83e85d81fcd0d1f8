/** The dialog that shares a page: with whom, who has asked, what is open to all, and why somebody sees it. */
import { useState } from 'preact/hooks';
import type { Artifact } from '../../api/client.ts';
import { mayManage, seatIn } from '../../state/place.ts';
import { Button } from '../../ui/button.tsx';
import { copyText } from '../../ui/copy.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Icon } from '../../ui/icon.tsx';
import { VISIBILITY_ICONS } from '../../ui/small.tsx';
import { words } from '../../words/words.ts';
import { mayShare } from '../artifact/rights.ts';
import { ExplainPart } from './explain.tsx';
import { Holders } from './holders.tsx';
import { OtherAccess } from './others.tsx';
import { OutsideForm } from './outside-form.tsx';
import { RequestsFor } from './requests.tsx';
import { EMPTY_DRAFT, ShareForm } from './share-form.tsx';
import { TransferButton } from './transfer.tsx';

const COPIED_MS = 2500;

export function ShareButton({ artifact }: { readonly artifact: Artifact }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button icon="people" aria-haspopup="dialog" onClick={() => setOpen(true)}>
        {words.value.share.open}
      </Button>
      {isOpen && <ShareDialog artifact={artifact} onClose={() => setOpen(false)} />}
    </>
  );
}

interface ShareDialogProps {
  readonly artifact: Artifact;
  readonly onClose: () => void;
}

function ShareDialog({ artifact, onClose }: ShareDialogProps) {
  const [draft, setDraft] = useState(EMPTY_DRAFT);
  const { share, app } = words.value;
  const { id, name, url } = artifact;
  const [outsideEmail, setOutsideEmail] = useState('');
  const isMine = mayShare(artifact);
  return (
    <Dialog title={share.title(name)} onClose={onClose} isChanged={draft.emails.trim() !== '' || outsideEmail.trim() !== ''}>
      <div class="share">
        {isMine && <ShareForm artifactId={id} draft={draft} onDraft={setDraft} />}
        {isMine && <RequestsFor artifactId={id} />}
        <Holders artifact={artifact} />
        <OtherAccess artifact={artifact} />
        <Outside artifact={artifact} email={outsideEmail} onEmail={setOutsideEmail} />
        <GeneralAccess artifact={artifact} onLeave={onClose} />
        {isMine && <ExplainPart artifact={artifact} />}
        {isMine && <TransferButton artifact={artifact} onDone={onClose} />}
      </div>
      <div class="dialog-foot">
        <CopyAddress url={url} />
        <Button look="main" onClick={onClose}>
          {app.done}
        </Button>
      </div>
    </Dialog>
  );
}

interface OutsideProps {
  readonly artifact: Artifact;
  readonly email: string;
  readonly onEmail: (email: string) => void;
}

/** Only those who run the workspace share outside; for others it is said who does. */
function Outside({ artifact, email, onEmail }: OutsideProps) {
  const { outside } = words.value;
  const seat = artifact.workspace_id === null ? undefined : seatIn(artifact.workspace_id);
  if (seat === undefined) return null;
  return (
    <section class="share-part" aria-labelledby="outside">
      <h3 id="outside">{outside.title}</h3>
      <p class="soft small">{mayManage(seat.slug) ? outside.text(seat.name) : outside.onlyAdmins}</p>
      {mayManage(seat.slug) && (
        <OutsideForm workspace={seat.slug} resource={{ type: 'artifact', id: artifact.id }} email={email} onEmail={onEmail} />
      )}
    </section>
  );
}

function GeneralAccess({ artifact, onLeave }: { readonly artifact: Artifact; readonly onLeave: () => void }) {
  const { share, visibility: said } = words.value;
  const { id, visibility } = artifact;
  return (
    <section class="share-part" aria-labelledby="general">
      <h3 id="general">{share.general}</h3>
      <p class="share-general">
        <Icon name={VISIBILITY_ICONS[visibility]} />
        <span class="grow">
          <strong>{said[visibility].name}.</strong> {meaningOf(artifact)}
        </span>
        <a href={`/p/${id}`} onClick={onLeave}>
          {share.change}
        </a>
      </p>
    </section>
  );
}

function meaningOf({ visibility, workspace_id }: Artifact): string {
  const { share, visibility: said } = words.value;
  if (workspace_id === null) return said[visibility].means;
  if (visibility === 'private') return said.private.meansInWorkspace;
  const seat = seatIn(workspace_id);
  return visibility === 'workspace' && seat !== undefined ? share.allMembers(seat.name) : said[visibility].means;
}

function CopyAddress({ url }: { readonly url: string }) {
  const [state, setState] = useState<'ready' | 'copied' | 'failed'>('ready');
  const { share, app } = words.value;
  const said = { ready: '', copied: app.copied, failed: app.copyFailed }[state];
  return (
    <>
      <span class="share-copied" role="status">
        {said}
      </span>
      <Button
        icon={state === 'copied' ? 'check' : 'link'}
        onClick={async () => {
          setState((await copyText(url)) ? 'copied' : 'failed');
          setTimeout(() => setState('ready'), COPIED_MS);
        }}
      >
        {share.copyAddress}
      </Button>
    </>
  );
}
