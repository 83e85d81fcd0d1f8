/** A text that is reviewed: characters that no one sees stand there by their names. */
import { words } from '../words/words.ts';
import { hasUnseen, partsOf } from './unseen.ts';

export function ShownText({ text }: { readonly text: string }) {
  return (
    <>
      {partsOf(text).map((part, at) =>
        part.isUnseen ? (
          <mark key={at} class="char-name">
            {part.text}
          </mark>
        ) : (
          part.text
        ),
      )}
    </>
  );
}

/** Says what the marks are, where a text has any. */
export function UnseenNote({ text }: { readonly text: string }) {
  return hasUnseen(text) ? <p class="notice warn char-names">{words.value.versions.unseen}</p> : null;
}
