/** The suspension of a person, a workspace or a page: why and since when, or how to begin one. */
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { LIMITS } from '../../../../../protocol/core/limits.ts';
import type { Suspension } from '../../api/client.ts';
import { tell } from '../../state/toasts.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { AreaField } from '../../ui/fields.tsx';
import { Time } from '../../ui/small.tsx';
import { instanceWords } from '../../words/instance-words.ts';
import { words } from '../../words/words.ts';
import { ActionButton, Named } from './common.tsx';
import { TypedConfirm } from './typed-confirm.tsx';

type Wanted = { readonly reason: string } | null;

interface SuspensionProps {
  readonly of: 'person' | 'workspace' | 'page';
  readonly name: string;
  /** What has to be typed. */
  readonly expected: string;
  readonly suspended: Suspension | null;
  readonly change: (wanted: Wanted) => Promise<void>;
  /** What else matters to it. */
  readonly children?: ComponentChildren;
}

export function SuspensionSection({ of, name, expected, suspended, change, children }: SuspensionProps) {
  const [asks, setAsks] = useState<'suspend' | 'reason' | undefined>();
  const { suspension: said } = instanceWords.value;
  return (
    <section class={`panel${suspended === null ? '' : ' is-danger'}`}>
      <h3>{said.title}</h3>
      {suspended === null ? <p class="soft small">{said.means[of]}</p> : <Why suspended={suspended} />}
      {children}
      <div class="row">
        {suspended === null ? (
          <Button small look="danger" onClick={() => setAsks('suspend')}>
            {said.suspend}
          </Button>
        ) : (
          <>
            <ActionButton
              run={async () => {
                await change(null);
                tell(said.lifted(name));
              }}
            >
              {said.lift}
            </ActionButton>
            <Button small look="quiet" onClick={() => setAsks('reason')}>
              {said.changeReason}
            </Button>
          </>
        )}
      </div>
      {asks === 'suspend' && <SuspendDialog {...{ of, name, expected, change }} onClose={() => setAsks(undefined)} />}
      {asks === 'reason' && suspended !== null && (
        <ReasonDialog reason={suspended.reason} change={change} onClose={() => setAsks(undefined)} />
      )}
    </section>
  );
}

function Why({ suspended: { reason, at, by } }: { readonly suspended: Suspension }) {
  const said = instanceWords.value;
  return (
    <div class="notice warn">
      <p>{said.suspension.because(reason)}</p>
      <p class="small">
        <Time at={at} /> <Named id={by}>{(who) => said.by(who)}</Named>
      </p>
    </div>
  );
}

type SuspendProps = Pick<SuspensionProps, 'of' | 'name' | 'expected' | 'change'> & { readonly onClose: () => void };

function SuspendDialog({ of, name, expected, change, onClose }: SuspendProps) {
  const [reason, setReason] = useState('');
  const { suspension: said } = instanceWords.value;
  return (
    <TypedConfirm
      title={said.suspendTitle(name)}
      text={said.means[of]}
      expected={expected}
      action={said.suspend}
      isReady={reason.trim() !== ''}
      run={async () => {
        await change({ reason: reason.trim() });
        tell(said.done(name));
      }}
      onClose={onClose}
    >
      <ReasonField reason={reason} onReason={setReason} />
    </TypedConfirm>
  );
}

function ReasonField({ reason, onReason }: { readonly reason: string; readonly onReason: (reason: string) => void }) {
  const { suspension: said } = instanceWords.value;
  return (
    <AreaField
      label={said.reason}
      hint={said.reasonHint}
      value={reason}
      onText={onReason}
      required
      maxLength={LIMITS.suspensionReasonCharsMax}
      autoFocus
    />
  );
}

interface ReasonProps {
  readonly reason: string;
  readonly change: (wanted: Wanted) => Promise<void>;
  readonly onClose: () => void;
}

function ReasonDialog({ reason: before, change, onClose }: ReasonProps) {
  const [reason, setReason] = useState(before);
  const { suspension: said } = instanceWords.value;
  return (
    <Dialog title={said.changeReason} isChanged={reason !== before} onClose={onClose}>
      <ReasonField reason={reason} onReason={setReason} />
      <div class="dialog-foot">
        <Button onClick={onClose}>{words.value.app.cancel}</Button>
        <ActionButton
          look="main"
          run={async () => {
            await change({ reason: reason.trim() });
            tell(said.reasonSaved);
            onClose();
          }}
        >
          {words.value.app.save}
        </ActionButton>
      </div>
    </Dialog>
  );
}
