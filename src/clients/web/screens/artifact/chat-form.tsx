/** Whether the page has a chat with its visitors, and what that says first. */
import { useState } from 'preact/hooks';
import type { PageChat } from '../../api/client.ts';
import { type Problem, problemOf } from '../../api/problem.ts';
import { setPageChat, usePageChat } from '../../state/support.ts';
import { tell } from '../../state/toasts.ts';
import { Button } from '../../ui/button.tsx';
import { AreaField, Switch } from '../../ui/fields.tsx';
import { Loaded } from '../../ui/states.tsx';
import { problemWords } from '../../words/problems.ts';
import { words } from '../../words/words.ts';

// Source: chatGreetingCharsMax of the protocol's limits.
const GREETING_CHARS_MAX = 500;

export function ChatForm({ artifactId }: { readonly artifactId: string }) {
  const loaded = usePageChat(artifactId);
  const { pageChat } = words.value;
  return (
    <section class="panel">
      <h2>{pageChat.title}</h2>
      <p class="soft">{pageChat.text}</p>
      <Loaded of={loaded}>{(stored) => <Form artifactId={artifactId} stored={stored} />}</Loaded>
    </section>
  );
}

function Form({ artifactId, stored }: { readonly artifactId: string; readonly stored: PageChat }) {
  const [greeting, setGreeting] = useState(stored.greeting);
  const [problem, setProblem] = useState<Problem>();
  const [isBusy, setBusy] = useState(false);
  const { pageChat, app, page } = words.value;
  const save = async (wanted: PageChat, said: string) => {
    setBusy(true);
    setProblem(undefined);
    try {
      await setPageChat(artifactId, wanted);
      tell(said);
    } catch (error) {
      setProblem(problemOf(error));
    }
    setBusy(false);
  };
  const failed = problem && problemWords(problem);
  return (
    <form
      class="chat-form"
      onSubmit={(event) => {
        event.preventDefault();
        void save({ ...stored, greeting }, page.saved);
      }}
    >
      <Switch
        label={pageChat.on}
        isOn={stored.enabled}
        disabled={isBusy}
        onTurn={(enabled) => void save({ enabled, greeting }, enabled ? pageChat.isOn : pageChat.isOff)}
      />
      {stored.enabled && (
        <>
          <AreaField
            label={pageChat.greeting}
            hint={pageChat.greetingHint}
            value={greeting}
            onText={setGreeting}
            maxLength={GREETING_CHARS_MAX}
          />
          <div class="row">
            <Button type="submit" look="main" isBusy={isBusy} disabled={greeting.trim() === stored.greeting}>
              {app.save}
            </Button>
          </div>
        </>
      )}
      {failed && (
        <p class="notice bad" role="alert">
          {failed.title} {failed.text}
        </p>
      )}
    </form>
  );
}
