import { useState } from 'preact/hooks';
import { words } from '../words/words.ts';
import { Icon } from './icon.tsx';

export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch (error) {
    console.debug('the clipboard is not allowed', error);
    return false;
  }
}

export function CopyButton({ text, label }: { readonly text: string; readonly label?: string }) {
  const [state, setState] = useState<'ready' | 'copied' | 'failed'>('ready');
  const { copy, copied, copyFailed } = words.value.app;
  const said = { ready: label ?? copy, copied, failed: copyFailed }[state];
  return (
    <>
      <button
        type="button"
        class="btn-icon"
        aria-label={label ?? copy}
        title={said}
        onClick={async () => {
          setState((await copyText(text)) ? 'copied' : 'failed');
          setTimeout(() => setState('ready'), 2500);
        }}
      >
        <Icon name={state === 'copied' ? 'check' : 'copy'} size={16} />
      </button>
      <span class="unseen" role="status">
        {state === 'ready' ? '' : said}
      </span>
    </>
  );
}

/** Text to copy as it is: a command, a script, an address. */
export function Code({ text, label }: { readonly text: string; readonly label?: string }) {
  return (
    <div class="code">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard */}
      <pre tabIndex={0}>
        <code>{text}</code>
      </pre>
      <CopyButton text={text} {...(label !== undefined && { label })} />
    </div>
  );
}
