/** A native modal dialog. What was typed in it is not lost: closing one with unsaved changes asks first. */
import type { ComponentChildren } from 'preact';
import { useEffect, useId, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { words } from '../words/words.ts';
import { Button, IconButton } from './button.tsx';
import { OfflineNote } from './offline.tsx';
import { Toasts, useToastsIn } from './toasts.tsx';

interface DialogProps {
  readonly title: string;
  readonly onClose: () => void;
  /** Whether something in it would be lost. */
  readonly isChanged?: boolean;
  readonly wide?: boolean;
  /** Of an alert that cannot be put aside by a click beside it: a secret that is shown once. */
  readonly isFirm?: boolean;
  readonly children: ComponentChildren;
}

export function Dialog({ title, onClose, isChanged = false, wide = false, isFirm = false, children }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const pressedOutside = useRef(false);
  const [asks, setAsks] = useState(false);
  const titleId = useId();
  useToastsIn(titleId);
  // Before the effects of what is in it: a field cannot take the focus in a dialog that is not open.
  useLayoutEffect(() => {
    const shown = dialog.current;
    const before = document.activeElement;
    shown?.showModal();
    return () => {
      shown?.close();
      if (before instanceof HTMLElement && before.isConnected) before.focus();
    };
  }, []);
  useAskBeforeUnload(isChanged);
  const tryToClose = () => {
    if (isChanged) setAsks(true);
    else onClose();
  };
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Escape closes a native dialog
    <dialog
      ref={dialog}
      class={`dialog${wide ? ' is-wide' : ''}`}
      aria-labelledby={titleId}
      onCancel={(event) => {
        event.preventDefault();
        if (!isFirm) tryToClose();
      }}
      onPointerDown={(event) => {
        pressedOutside.current = event.target === dialog.current;
      }}
      onClick={(event) => {
        if (event.target === dialog.current && pressedOutside.current && !isFirm) tryToClose();
      }}
    >
      <div class="dialog-body">
        <header class="dialog-head">
          <h2 id={titleId}>{title}</h2>
          {!isFirm && <IconButton icon="close" label={words.value.app.close} onClick={tryToClose} />}
        </header>
        <OfflineNote />
        {asks && (
          <div class="notice warn" role="alert">
            <p>{words.value.app.unsaved}</p>
            <p class="row">
              <Button look="danger" small onClick={onClose}>
                {words.value.app.discard}
              </Button>
              <Button small onClick={() => setAsks(false)}>
                {words.value.app.keep}
              </Button>
            </p>
          </div>
        )}
        {children}
      </div>
      <Toasts dialogId={titleId} />
    </dialog>
  );
}

/** The browser asks before a window with something unsaved is closed or loaded anew. */
function useAskBeforeUnload(isChanged: boolean): void {
  useEffect(() => {
    if (!isChanged) return undefined;
    const ask = (event: BeforeUnloadEvent) => event.preventDefault();
    addEventListener('beforeunload', ask);
    return () => removeEventListener('beforeunload', ask);
  }, [isChanged]);
}

interface ConfirmProps {
  readonly title: string;
  readonly text: string;
  readonly action: string;
  readonly onConfirm: () => void;
  readonly onClose: () => void;
}

export function Confirm({ title, text, action, onConfirm, onClose }: ConfirmProps) {
  return (
    <Dialog title={title} onClose={onClose}>
      <p>{text}</p>
      <div class="dialog-foot">
        <Button onClick={onClose}>{words.value.app.cancel}</Button>
        <Button
          look="danger"
          onClick={() => {
            onClose();
            onConfirm();
          }}
        >
          {action}
        </Button>
      </div>
    </Dialog>
  );
}
