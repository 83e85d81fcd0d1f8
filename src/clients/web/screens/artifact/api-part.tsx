/** How programs reach this page: from its own scripts, over HTTP, by the command line. */
import type { Artifact } from '../../api/client.ts';
import { LinkButton } from '../../ui/button.tsx';
import { Code } from '../../ui/copy.tsx';
import { words } from '../../words/words.ts';

export function ApiPart({ artifact }: { readonly artifact: Artifact }) {
  const { api } = words.value;
  const base = `${location.origin}/v1/data/${artifact.id}`;
  return (
    <div class="panels">
      <section class="panel">
        <h2>{api.inPage}</h2>
        <p class="soft">{api.inPageText}</p>
        <Code
          text={`<script src="/sdk.js"></script>
<script>
  easel.json.watch('score', (points = 0) => {
    document.title = points;
  });
  easel.json.increment('score');
</script>`}
        />
      </section>
      <section class="panel">
        <h2>{api.byHttp}</h2>
        <p class="soft">{api.byHttpText}</p>
        <Code
          text={`export EASEL_TOKEN=so_…
curl ${base}/json/score \\
  -H "Authorization: Bearer $EASEL_TOKEN"
curl -X PUT ${base}/json/score -d 42 \\
  -H "Authorization: Bearer $EASEL_TOKEN" \\
  -H "Content-Type: application/json"`}
        />
        <p class="row">
          <LinkButton href="/account#tokens" icon="key">
            {api.tokens}
          </LinkButton>
          <LinkButton href="/docs" target="_blank" rel="noopener" icon="book">
            {api.reference}
          </LinkButton>
        </p>
      </section>
      <section class="panel">
        <h2>{api.byLine}</h2>
        <Code
          text={`npx easel login --url ${location.origin}
npx easel publish ./my-site --artifact ${artifact.slug}
npx easel data set score 42 --artifact ${artifact.slug}`}
        />
      </section>
      {artifact.role === 'owner' && (
        <section class="panel">
          <h2>{api.exportTitle}</h2>
          <p class="soft">{api.exportText}</p>
          <p>
            <LinkButton href={`/v1/artifacts/${artifact.id}/export`} download icon="down">
              {api.export}
            </LinkButton>
          </p>
        </section>
      )}
    </div>
  );
}
