import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { closeToast, toasts } from '../state/toasts.ts';
import { supportAddress } from '../words/problems.ts';
import { words } from '../words/words.ts';
import { IconButton } from './button.tsx';
import { Icon } from './icon.tsx';

/** The dialogs that are open, the topmost last. What is outside the topmost is inert: it is neither read out nor can it be clicked. */
const openDialogs = signal<readonly string[]>([]);

/** Shows the messages in this dialog while it is the topmost. */
export function useToastsIn(dialogId: string): void {
  useEffect(() => {
    openDialogs.value = [...openDialogs.peek(), dialogId];
    return () => {
      openDialogs.value = openDialogs.peek().filter((id) => id !== dialogId);
    };
  }, [dialogId]);
}

/** `dialogId`: the dialog that it is in; without, it is that of the window. */
export function Toasts({ dialogId }: { readonly dialogId?: string }) {
  const shown = openDialogs.value.at(-1) === dialogId ? toasts.value : [];
  return (
    <section class="toasts" aria-live="polite" aria-label={words.value.app.done}>
      {shown.map(({ id, kind, text, action, link, faultOf }) => (
        <div key={id} class={`toast is-${kind}`} role={kind === 'failed' ? 'alert' : undefined}>
          <Icon name={kind === 'failed' ? 'alert' : 'check'} />
          <p>{text}</p>
          {action && (
            <button
              type="button"
              class="toast-action"
              onClick={() => {
                closeToast(id);
                action.run();
              }}
            >
              {action.label}
            </button>
          )}
          {link && (
            <a class="toast-action" href={link.href} onClick={() => closeToast(id)}>
              {link.label}
            </a>
          )}
          {faultOf !== undefined && (
            // What is typed in a dialog would be lost.
            <a
              class="toast-action"
              href={supportAddress(faultOf)}
              {...(dialogId !== undefined && { target: '_blank', rel: 'noopener' })}
              onClick={() => closeToast(id)}
            >
              {words.value.support.write}
            </a>
          )}
          <IconButton icon="close" label={words.value.app.dismiss} onClick={() => closeToast(id)} />
        </div>
      ))}
    </section>
  );
}
