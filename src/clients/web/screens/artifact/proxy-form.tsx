/** What a page may read of other hosts. */
import { useState } from 'preact/hooks';
import { api } from '../../api/client.ts';
import { type Problem, problemOf } from '../../api/problem.ts';
import { useProxyConfig } from '../../state/hooks.ts';
import { changed } from '../../state/store.ts';
import { tell } from '../../state/toasts.ts';
import { Button } from '../../ui/button.tsx';
import { AreaField, SelectField, TextField } from '../../ui/fields.tsx';
import { Loaded } from '../../ui/states.tsx';
import { problemWords } from '../../words/problems.ts';
import { words } from '../../words/words.ts';

type Way = 'none' | 'some' | 'any';
const WAYS: readonly Way[] = ['none', 'some', 'any'];

interface Config {
  readonly hosts: 'any' | readonly string[];
  readonly cacheS: number;
}

export function ProxyForm({ artifactId }: { readonly artifactId: string }) {
  const loaded = useProxyConfig(artifactId);
  const { proxy } = words.value;
  return (
    <section class="panel">
      <h2>{proxy.title}</h2>
      <p class="soft">{proxy.text}</p>
      <Loaded of={loaded}>{(config) => <Form key={JSON.stringify(config)} artifactId={artifactId} stored={config} />}</Loaded>
    </section>
  );
}

function wayOf({ hosts }: Config): Way {
  return hosts === 'any' ? 'any' : hosts.length === 0 ? 'none' : 'some';
}

function Form({ artifactId, stored }: { readonly artifactId: string; readonly stored: Config }) {
  const [way, setWay] = useState<Way>(wayOf(stored));
  const [hosts, setHosts] = useState(stored.hosts === 'any' ? '' : stored.hosts.join('\n'));
  const [cache, setCache] = useState(String(stored.cacheS));
  const [problem, setProblem] = useState<Problem>();
  const [isBusy, setBusy] = useState(false);
  const { proxy, app, page } = words.value;
  const named = hosts.split(/[\s,]+/).filter((host) => host !== '');
  const wanted: Config = { hosts: way === 'any' ? 'any' : way === 'none' ? [] : named, cacheS: Number(cache) };
  const isChanged = JSON.stringify(wanted) !== JSON.stringify({ hosts: stored.hosts, cacheS: stored.cacheS });
  const save = async (event: SubmitEvent) => {
    event.preventDefault();
    setBusy(true);
    setProblem(undefined);
    try {
      const body = { hosts: wanted.hosts === 'any' ? ('any' as const) : [...wanted.hosts], cacheS: wanted.cacheS };
      await api.proxy.putConfig({ params: { artifactId }, body });
      changed(`proxy:${artifactId}`);
      tell(page.saved);
    } catch (error) {
      setProblem(problemOf(error));
    }
    setBusy(false);
  };
  const failed = problem && problemWords(problem);
  return (
    <form onSubmit={save}>
      <SelectField label={proxy.which} value={way} options={WAYS.map((value) => ({ value, label: proxy.ways[value] }))} onChoose={setWay} />
      {way === 'some' && <AreaField label={proxy.hosts} hint={proxy.hostsHint} value={hosts} onText={setHosts} spellcheck={false} />}
      {way !== 'none' && <TextField label={proxy.cache} hint={proxy.cacheHint} value={cache} onText={setCache} maxLength={6} />}
      {failed && (
        <p class="notice bad" role="alert">
          {failed.title} {failed.text}
        </p>
      )}
      <div class="row">
        <Button type="submit" look="main" isBusy={isBusy} disabled={!isChanged || !/^\d+$/.test(cache)}>
          {app.save}
        </Button>
      </div>
    </form>
  );
}
