/** What the installation offers. */
import { useState } from 'preact/hooks';
import type { Read } from '../../state/instance.ts';
import { FLAG_NAMES, type FlagName, type Flags, setFlag, useInstanceFlags } from '../../state/instance-whole.ts';
import { tell, tellProblem } from '../../state/toasts.ts';
import { Switch } from '../../ui/fields.tsx';
import { Loaded } from '../../ui/states.tsx';
import { ago } from '../../words/format.ts';
import { instanceWords } from '../../words/instance-words.ts';
import { Named } from './common.tsx';

export function FlagsPart() {
  const loaded = useInstanceFlags();
  const { flags } = instanceWords.value;
  return (
    <div class="narrow">
      <p class="soft small instance-intro">{flags.text}</p>
      <Loaded of={loaded} shape="block">
        {(read) => (
          <section class="panel">
            {FLAG_NAMES.map((name) => (
              <FlagSwitch key={name} name={name} read={read} />
            ))}
          </section>
        )}
      </Loaded>
    </div>
  );
}

function FlagSwitch({ name, read }: { readonly name: FlagName; readonly read: Read<Flags> }) {
  const [isBusy, setBusy] = useState(false);
  const { flags } = instanceWords.value;
  const { enabled, changed_at, changed_by } = read.shown[name];
  const turn = async (isOn: boolean) => {
    setBusy(true);
    try {
      await setFlag(read, name, isOn);
      tell(isOn ? flags.on(flags.names[name]) : flags.off(flags.names[name]));
    } catch (error) {
      tellProblem(error);
    }
    setBusy(false);
  };
  return (
    <div>
      <Switch label={flags.names[name]} hint={flags.hints[name]} isOn={enabled} disabled={isBusy} onTurn={(isOn) => void turn(isOn)} />
      <p class="soft small">
        {changed_at === null ? flags.never : <Named id={changed_by}>{(who) => flags.changed(ago(changed_at), who)}</Named>}
      </p>
    </div>
  );
}
