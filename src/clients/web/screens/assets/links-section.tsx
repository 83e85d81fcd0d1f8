/** The share links of a file. */
import { useState } from 'preact/hooks';
import { type Problem, problemOf } from '../../api/problem.ts';
import { endLink, makeLink, type NewLink, type ShareLink, useLinks } from '../../state/assets.ts';
import { tell, tellProblem } from '../../state/toasts.ts';
import { Button } from '../../ui/button.tsx';
import { Code } from '../../ui/copy.tsx';
import { SelectField, TextField } from '../../ui/fields.tsx';
import { Tag } from '../../ui/small.tsx';
import { Loaded } from '../../ui/states.tsx';
import { dateText } from '../../words/format.ts';
import { problemWords } from '../../words/problems.ts';
import { words } from '../../words/words.ts';

interface LinksProps {
  readonly slug: string | undefined;
  readonly fileId: string;
}

export function LinksSection({ slug, fileId }: LinksProps) {
  const links = useLinks(slug, fileId);
  const { assets } = words.value;
  return (
    <section class="part asset-part" aria-labelledby="asset-links">
      <h3 id="asset-links">{assets.links}</h3>
      <Loaded of={links}>
        {(shown) => (
          <>
            {shown.length === 0 && <p class="soft">{assets.noLinks}</p>}
            {shown.length > 0 && (
              <ul class="rows">
                {shown.map((link) => (
                  <LinkRow key={link.id} slug={slug} fileId={fileId} link={link} />
                ))}
              </ul>
            )}
            <LinkForm slug={slug} fileId={fileId} />
          </>
        )}
      </Loaded>
    </section>
  );
}

function LinkRow({ slug, fileId, link }: LinksProps & { readonly link: ShareLink }) {
  const { assets } = words.value;
  const { id, url, gate, domain, expiresAt, revokedAt, views } = link;
  const isExpired = expiresAt !== null && Date.parse(expiresAt) <= Date.now();
  const isOpen = revokedAt === null && !isExpired;
  const revoke = async () => {
    try {
      await endLink(slug, fileId, id);
      tell(assets.linkEnded);
    } catch (error) {
      tellProblem(error);
    }
  };
  return (
    <li class="row-item">
      <div class="grow">
        {isOpen ? <Code text={url} /> : <p class="row-title is-long">{url}</p>}
        <p class="row-facts">
          <Tag tone={isOpen ? 'good' : 'plain'}>
            {isOpen ? (domain ?? assets.gates[gate]) : isExpired ? assets.expired : assets.revoked}
          </Tag>
          <span>{assets.views(views)}</span>
          {expiresAt !== null && isOpen && <span>{assets.until(dateText(expiresAt))}</span>}
        </p>
      </div>
      {isOpen && (
        <Button small onClick={() => void revoke()}>
          {assets.endLink}
        </Button>
      )}
    </li>
  );
}

const LIVES_MS = { never: undefined, day: 86_400_000, week: 7 * 86_400_000, month: 30 * 86_400_000 } as const;
type Life = keyof typeof LIVES_MS;

function endOf(life: Life): string | undefined {
  const livesMs = LIVES_MS[life];
  return livesMs === undefined ? undefined : new Date(Date.now() + livesMs).toISOString();
}

function LinkForm({ slug, fileId }: LinksProps) {
  const [gate, setGate] = useState<ShareLink['gate']>('none');
  const [secret, setSecret] = useState('');
  const [life, setLife] = useState<Life>('never');
  const [problem, setProblem] = useState<Problem>();
  const [isBusy, setBusy] = useState(false);
  const { assets } = words.value;
  const make = async (event: SubmitEvent) => {
    event.preventDefault();
    setBusy(true);
    const expiresAt = endOf(life);
    const body: NewLink = { gate, ...(gate !== 'none' && { [gate]: secret }), ...(expiresAt !== undefined && { expiresAt }) };
    try {
      await makeLink(slug, fileId, body);
      setSecret('');
      setProblem(undefined);
      tell(assets.linkMade);
    } catch (error) {
      setProblem(problemOf(error));
    }
    setBusy(false);
  };
  const failed = problem && problemWords(problem);
  const choose = (chosen: ShareLink['gate']) => {
    setGate(chosen);
    setSecret('');
  };
  return (
    <form onSubmit={make}>
      <SelectField
        label={assets.gate}
        value={gate}
        options={(['none', 'password', 'domain'] as const).map((value) => ({ value, label: assets.gates[value] }))}
        onChoose={choose}
      />
      {gate === 'password' && (
        <TextField
          label={assets.password}
          hint={assets.passwordHint}
          type="password"
          autocomplete="new-password"
          value={secret}
          onText={setSecret}
          required
          minLength={8}
        />
      )}
      {gate === 'domain' && <TextField label={assets.domain} hint={assets.domainHint} value={secret} onText={setSecret} required />}
      <SelectField
        label={assets.lives}
        value={life}
        options={(['never', 'day', 'week', 'month'] as const).map((value) => ({ value, label: assets.life[value] }))}
        onChoose={setLife}
      />
      {failed !== undefined && (
        <div class="notice bad" role="alert">
          <p>
            {failed.title} {failed.text}
          </p>
        </div>
      )}
      <Button type="submit" icon="link" isBusy={isBusy} disabled={gate !== 'none' && secret.trim() === ''}>
        {assets.makeLink}
      </Button>
    </form>
  );
}
