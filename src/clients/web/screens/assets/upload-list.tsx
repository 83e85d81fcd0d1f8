/** Uploads under way: how far each is, that it waits for the connection, and what has failed. */
import { putAside, tryAgain, type Upload, uploads } from '../../state/asset-uploads.ts';
import { Button, IconButton } from '../../ui/button.tsx';
import { problemWords } from '../../words/problems.ts';
import { words } from '../../words/words.ts';

export function UploadList({ of }: { readonly of: string }) {
  const shown = uploads.value.filter((one) => one.of === of);
  if (shown.length === 0) return null;
  return (
    <ul class="rows">
      {shown.map((one) => (
        <UploadRow key={one.key} upload={one} />
      ))}
    </ul>
  );
}

function percent(share: number): string {
  return `${Math.floor(share * 100)} %`;
}

function UploadRow({ upload: { key, name, share, isWaiting, problem } }: { readonly upload: Upload }) {
  const { assets, app } = words.value;
  const failed = problem && problemWords(problem);
  return (
    <li class="row-item">
      <div class="grow">
        <p class="row-title">{name}</p>
        {failed === undefined ? (
          <>
            <progress class="progress" max={1} value={share} aria-label={assets.uploading(name)} />
            {isWaiting ? (
              <p class="row-facts" role="status">
                {assets.waiting(percent(share))}
              </p>
            ) : (
              <p class="row-facts">{percent(share)}</p>
            )}
          </>
        ) : (
          <p class="field-note is-bad" role="alert">
            {failed.title} {failed.text}
          </p>
        )}
      </div>
      {failed !== undefined && (
        <Button small onClick={() => tryAgain(key)}>
          {app.retry}
        </Button>
      )}
      <IconButton icon="close" label={failed === undefined ? assets.cancel(name) : assets.putAside} onClick={() => putAside(key)} />
    </li>
  );
}
