/** Draws latency over load as an SVG: filled points were carried, hollow points were too much. */
import { KNEE_P99_MS, type Knee, type Step } from './knee.ts';

const WIDTH = 760;
const HEIGHT = 420;
const LEFT = 70;
const RIGHT = 20;
const TOP = 56;
const BOTTOM = 60;
/** The latency axis is logarithmic, from 0.1 ms to 10 s. */
const DECADES = [0.1, 1, 10, 100, 1000, 10_000] as const;
const COLOURS = ['#1f5fbf', '#c2541b', '#4d7c0f'] as const;

interface Curve {
  readonly label: string;
  readonly colour: string;
  readonly dashed: boolean;
  readonly points: readonly { readonly artifacts: number; readonly ms: number; readonly carried: boolean }[];
}

export function kneeChart(knees: readonly Knee[], title: string): string {
  const curves = knees.flatMap((knee, index) => curvesOf(knee, COLOURS[index % COLOURS.length] ?? '#333'));
  const most = Math.max(1, ...curves.flatMap((curve) => curve.points.map((point) => point.artifacts)));
  const step = niceStep(most / 6);
  const right = Math.ceil(most / step) * step;
  const x = (artifacts: number) => LEFT + (artifacts / right) * (WIDTH - LEFT - RIGHT);
  const parts = [
    ...DECADES.map((ms) => horizontal(y(ms), '#ddd', '') + text(LEFT - 8, y(ms) + 4, `${ms} ms`, 'end')),
    ...Array.from({ length: right / step + 1 }, (_, tick) => text(x(tick * step), HEIGHT - BOTTOM + 20, String(tick * step), 'middle')),
    text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 16, 'artifacts, each at 996 calls a minute, 90 % reads and 10 % durable writes', 'middle'),
    horizontal(y(KNEE_P99_MS), '#b00020', ' stroke-dasharray="6 4"') +
      text(WIDTH - RIGHT, y(KNEE_P99_MS) - 6, `p99 of ${KNEE_P99_MS} ms`, 'end'),
    ...curves.map((curve) => drawn(curve, x)),
    ...curves.map((curve, index) => legend(curve, index)),
    `<text x="${LEFT}" y="20" font-size="15" font-weight="bold">${escaped(title)}</text>`,
  ];
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" width="${WIDTH}" height="${HEIGHT}" font-family="sans-serif" font-size="12">`,
    `<rect width="${WIDTH}" height="${HEIGHT}" fill="#fff"/>`,
    ...parts,
    '</svg>\n',
  ].join('\n');
}

function curvesOf(knee: Knee, colour: string): Curve[] {
  const sorted = knee.steps.toSorted((a, b) => a.artifacts - b.artifacts);
  const points = (ms: (step: Step) => number) => sorted.map((step) => ({ artifacts: step.artifacts, ms: ms(step), carried: step.carried }));
  return [
    { label: `${knee.name}, p99`, colour, dashed: false, points: points((step) => step.paced.all.p99Ms) },
    { label: `${knee.name}, p50`, colour, dashed: true, points: points((step) => step.paced.all.p50Ms) },
  ];
}

function y(ms: number): number {
  const [lowest] = DECADES;
  const share = Math.log10(Math.max(lowest, Math.min(10_000, ms)) / lowest) / (DECADES.length - 1);
  return HEIGHT - BOTTOM - share * (HEIGHT - TOP - BOTTOM);
}

function drawn({ colour, dashed, points }: Curve, x: (artifacts: number) => number): string {
  const line = points.map((point) => `${x(point.artifacts).toFixed(1)},${y(point.ms).toFixed(1)}`).join(' ');
  const dots = points.map(
    (point) =>
      `<circle cx="${x(point.artifacts).toFixed(1)}" cy="${y(point.ms).toFixed(1)}" r="3.5" fill="${point.carried ? colour : '#fff'}" stroke="${colour}">` +
      `<title>${point.artifacts} artifacts: ${point.ms} ms</title></circle>`,
  );
  return `<polyline points="${line}" fill="none" stroke="${colour}" stroke-width="1.5"${dashed ? ' stroke-dasharray="3 3"' : ''}/>${dots.join('')}`;
}

function legend({ label, colour, dashed }: Curve, index: number): string {
  const at = LEFT + index * 165;
  const line = `<line x1="${at}" x2="${at + 24}" y1="38" y2="38" stroke="${colour}" stroke-width="2"${dashed ? ' stroke-dasharray="3 3"' : ''}/>`;
  return line + text(at + 30, 42, label, 'start');
}

function horizontal(at: number, colour: string, more: string): string {
  return `<line x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${at.toFixed(1)}" y2="${at.toFixed(1)}" stroke="${colour}"${more}/>`;
}

function text(x: number, at: number, words: string, anchor: 'start' | 'middle' | 'end'): string {
  return `<text x="${x.toFixed(1)}" y="${at.toFixed(1)}" text-anchor="${anchor}">${escaped(words)}</text>`;
}

function escaped(words: string): string {
  return words.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}

/** Rounds up to the next of 1, 2, 5, 10, 20 … */
function niceStep(least: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(1, least)));
  return [1, 2, 5, 10].map((times) => times * power).find((step) => step >= least) ?? power * 10;
}
