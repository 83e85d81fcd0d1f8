/** What a page looks like: its picture where the server has one, above the drawing that stands for it until it has come and where it fails. */
import { useState } from 'preact/hooks';
import type { Artifact } from '../api/client.ts';
import { Drawing } from './drawing.tsx';

/** The address without its host: the app may be open under another name than the one that the server calls itself by, and its policy admits only its own. */
function pathOf(address: string): string {
  const { pathname, search } = new URL(address);
  return pathname + search;
}

export function PagePicture({ artifact: { id, thumbnail_url } }: { readonly artifact: Pick<Artifact, 'id' | 'thumbnail_url'> }) {
  const [shown, setShown] = useState<string>();
  const [failed, setFailed] = useState<string>();
  const path = thumbnail_url === null ? undefined : pathOf(thumbnail_url);
  return (
    <span class="page-picture">
      <Drawing seed={id} />
      {path !== undefined && path !== failed && (
        // Without a text of its own, because it always stands beside the name of the page, as one link.
        <img
          key={path}
          src={path}
          class={shown === path ? 'is-shown' : undefined}
          alt=""
          width={640}
          height={400}
          loading="lazy"
          decoding="async"
          draggable={false}
          onLoad={() => setShown(path)}
          onError={() => setFailed(path)}
        />
      )}
    </span>
  );
}
