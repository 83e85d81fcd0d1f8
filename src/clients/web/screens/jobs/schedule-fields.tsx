/** When a job runs: by the clock, with what that means, or after an event. */
import { useEffect, useMemo, useState } from 'preact/hooks';
import { api, type SchedulePreview } from '../../api/client.ts';
import { SelectField, TextField } from '../../ui/fields.tsx';
import { words } from '../../words/words.ts';
import type { FieldsProps } from './job-draft.ts';
import { EVENTS } from './job-draft.ts';
import { humanIn } from './job-words.tsx';

/** After the last key. */
const PREVIEW_AFTER_MS = 300;

export function TriggerFields(props: FieldsProps) {
  const { draft, write } = props;
  const { jobs } = words.value;
  return (
    <>
      <SelectField
        label={jobs.when}
        value={draft.trigger}
        options={[
          { value: 'cron', label: jobs.triggers.cron },
          { value: 'event', label: jobs.triggers.event },
        ]}
        onChoose={(trigger) => write({ trigger })}
      />
      {draft.trigger === 'cron' ? <ScheduleFields {...props} /> : <EventFields {...props} />}
    </>
  );
}

function EventFields({ draft, write, errorOf }: FieldsProps) {
  const { jobs } = words.value;
  return (
    <>
      <SelectField
        label={jobs.event}
        value={draft.eventType}
        options={EVENTS.map((value) => ({ value, label: jobs.events[value] }))}
        onChoose={(eventType) => write({ eventType })}
        error={errorOf('event_type')}
      />
      {draft.eventType === 'data.changed' && (
        <div class="field-pair">
          <TextField
            label={jobs.onlyTable}
            value={draft.onlyTable}
            onText={(onlyTable) => write({ onlyTable })}
            maxLength={64}
            spellcheck={false}
            hint={jobs.onlyTableHint}
            error={errorOf('event_filter.table')}
          />
          <TextField
            label={jobs.onlyKey}
            value={draft.onlyKey}
            onText={(onlyKey) => write({ onlyKey })}
            maxLength={257}
            spellcheck={false}
            hint={jobs.onlyKeyHint}
            error={errorOf('event_filter.key')}
          />
        </div>
      )}
    </>
  );
}

function ScheduleFields({ draft, write, errorOf }: FieldsProps) {
  const { jobs } = words.value;
  const shown = usePreview(draft.schedule, draft.timezone);
  const zones = useMemo(() => ['UTC', ...Intl.supportedValuesOf('timeZone')], []);
  const errorAt = (param: 'schedule' | 'timezone') => (shown?.param === param ? (shown.error ?? undefined) : errorOf(param));
  return (
    <>
      <TextField
        label={jobs.schedule}
        value={draft.schedule}
        onText={(schedule) => write({ schedule })}
        required
        maxLength={100}
        spellcheck={false}
        hint={jobs.scheduleHint}
        error={errorAt('schedule')}
      />
      <TextField
        label={jobs.timezone}
        value={draft.timezone}
        onText={(timezone) => write({ timezone })}
        maxLength={100}
        spellcheck={false}
        suggestions={zones}
        error={errorAt('timezone')}
      />
      {shown?.valid && <Meaning shown={shown} timezone={draft.timezone} />}
    </>
  );
}

/** The times in the zone of the job, because that is what the fields speak of. */
function Meaning({ shown, timezone }: { readonly shown: SchedulePreview; readonly timezone: string }) {
  const { jobs, locale } = words.value;
  const zone = timezone.trim() === '' ? 'UTC' : timezone.trim();
  const format = new Intl.DateTimeFormat(locale, {
    weekday: 'short',
    day: 'numeric',
    month: 'short',
    year: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    timeZone: zone,
    timeZoneName: 'short',
  });
  return (
    <section class="job-meaning" aria-label={jobs.means}>
      <p role="status">
        <strong>{humanIn(shown.human)}</strong>
      </p>
      {shown.next.length === 0 ? (
        <p class="soft small">{jobs.never}</p>
      ) : (
        <>
          <p class="soft small">{jobs.nextTimes}</p>
          <ol>
            {shown.next.map((at) => (
              <li key={at}>
                <time dateTime={at}>{format.format(new Date(at))}</time>
              </li>
            ))}
          </ol>
        </>
      )}
    </section>
  );
}

/** What was answered last stays visible until the next answer, and where there is none the server says at saving what is wrong. */
function usePreview(schedule: string, timezone: string): SchedulePreview | undefined {
  const [shown, setShown] = useState<SchedulePreview>();
  useEffect(() => {
    if (schedule.trim() === '') {
      setShown(undefined);
      return undefined;
    }
    const stop = new AbortController();
    const ask = async () => {
      const zone = timezone.trim();
      try {
        const body = { schedule, ...(zone !== '' && { timezone: zone }) };
        setShown((await api.jobs.preview({ body, signal: stop.signal })).body);
      } catch (error) {
        if (!stop.signal.aborted) console.debug('the schedule could not be read', error);
      }
    };
    const timer = setTimeout(() => void ask(), PREVIEW_AFTER_MS);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [schedule, timezone]);
  return shown;
}
