/** How often the page is opened, day by day, and how many people are on it now. */
import { useEffect, useState } from 'preact/hooks';
import type { Analytics } from '../../api/client.ts';
import { usePresence, useViews, type ViewsRange } from '../../state/loads.ts';
import { Tag } from '../../ui/small.tsx';
import { ProblemNote, Skeleton } from '../../ui/states.tsx';
import { dayText } from '../../words/format.ts';
import { words } from '../../words/words.ts';

const RANGES: readonly ViewsRange[] = ['7', '30', '90'];
/** Nothing tells of people who come and go without joining them, so the number is asked for again. */
const PRESENCE_EVERY_MS = 15_000;
/** Units of the drawing. */
const HEIGHT = 100;
const GAP = 0.25;

export function ViewsPanel({ artifactId }: { readonly artifactId: string }) {
  const [range, setRange] = useState<ViewsRange>('30');
  const loaded = useViews(artifactId, range);
  const { views: said } = words.value;
  // Whom the page is only shared with from outside may edit it and not see who visits.
  if (loaded.problem?.isForbidden) return null;
  return (
    <section class="panel views" aria-labelledby="views">
      <div class="row">
        <h2 id="views" class="grow">
          {said.title}
        </h2>
        <HereNow artifactId={artifactId} />
      </div>
      <fieldset class="segments" aria-label={said.range}>
        {RANGES.map((one) => (
          <button key={one} type="button" class="segment" aria-pressed={one === range} onClick={() => setRange(one)}>
            {said.ranges[one]}
          </button>
        ))}
      </fieldset>
      {loaded.data !== undefined && <Views analytics={loaded.data} range={range} />}
      {loaded.data === undefined && loaded.problem === undefined && <Skeleton shape="block" count={1} />}
      {loaded.problem !== undefined && <ProblemNote problem={loaded.problem} onRetry={loaded.reload} />}
      <p class="field-note">{said.note}</p>
    </section>
  );
}

function HereNow({ artifactId }: { readonly artifactId: string }) {
  const { data, reload } = usePresence(artifactId);
  useEffect(() => {
    const timer = setInterval(() => {
      if (document.visibilityState === 'visible') reload();
    }, PRESENCE_EVERY_MS);
    return () => clearInterval(timer);
  }, [artifactId]);
  if (data === undefined) return null;
  return (
    <span role="status">
      <Tag tone={data > 0 ? 'good' : 'plain'} icon="people">
        {words.value.views.now(data)}
      </Tag>
    </span>
  );
}

function Views({ analytics, range }: { readonly analytics: Analytics; readonly range: ViewsRange }) {
  const { views: said, locale } = words.value;
  const { views: days, total } = analytics;
  if (total.views === 0) return <p class="soft">{said.empty}</p>;
  const number = new Intl.NumberFormat(locale);
  return (
    <>
      <dl class="figures">
        <div>
          <dt class="is-views">{said.views}</dt>
          <dd>{number.format(total.views)}</dd>
        </div>
        <div>
          <dt class="is-visitors">{said.visitors}</dt>
          <dd>{number.format(total.visitors)}</dd>
        </div>
      </dl>
      <Chart days={days} />
      <p class="row small soft" aria-hidden="true">
        <span class="grow">{dayText(days[0]?.date ?? '')}</span>
        <span>{said.today}</span>
      </p>
      <DayTable days={days} caption={said.table(said.ranges[range])} />
    </>
  );
}

type Days = Analytics['views'];

/** A bar for each day, of views and within it of visitors. The table says the same to those who do not see it. */
function Chart({ days }: { readonly days: Days }) {
  const max = Math.max(...days.map((day) => day.views));
  const high = (count: number) => (count / max) * HEIGHT;
  const bar = (at: number, count: number, name: string) => (
    <rect class={name} x={at + GAP / 2} width={1 - GAP} y={HEIGHT - high(count)} height={high(count)} />
  );
  return (
    <svg class="chart" viewBox={`0 0 ${days.length} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true" focusable="false">
      {days.map((day, at) => (
        <g key={day.date}>
          {bar(at, day.views, 'is-views')}
          {bar(at, Math.min(day.visitors, day.views), 'is-visitors')}
          <rect class="is-day" x={at} width={1} y={0} height={HEIGHT}>
            <title>{words.value.views.dayOf(dayText(day.date), day.views, day.visitors)}</title>
          </rect>
        </g>
      ))}
    </svg>
  );
}

function DayTable({ days, caption }: { readonly days: Days; readonly caption: string }) {
  const { views: said } = words.value;
  return (
    <div class="unseen">
      <table>
        <caption>{caption}</caption>
        <thead>
          <tr>
            <th scope="col">{said.day}</th>
            <th scope="col">{said.views}</th>
            <th scope="col">{said.visitors}</th>
          </tr>
        </thead>
        <tbody>
          {days.map((day) => (
            <tr key={day.date}>
              <th scope="row">{dayText(day.date)}</th>
              <td>{day.views}</td>
              <td>{day.visitors}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
