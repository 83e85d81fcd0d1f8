/** The picture of a page until somebody opens it: drawn from its id alone, so that it is the same everywhere and costs no request. */
import type { JSX } from 'preact';
import { useMemo } from 'preact/hooks';

const WIDTH = 320;
const HEIGHT = 200;

interface Inks {
  readonly ground: string;
  readonly main: string;
  readonly deep: string;
  readonly bright: string;
}

const PALETTES: readonly Inks[] = [
  { ground: '#f3d9c4', main: '#d96c47', deep: '#8c3b2a', bright: '#fbf3e6' },
  { ground: '#d8e6df', main: '#4f8a77', deep: '#22504a', bright: '#f0c66b' },
  { ground: '#e5dff0', main: '#7b68b5', deep: '#40356b', bright: '#f2a98d' },
  { ground: '#f6e6b8', main: '#e0a93b', deep: '#9a5b1f', bright: '#5d8a99' },
  { ground: '#d9e6f2', main: '#5b8fc4', deep: '#29517f', bright: '#f6dc9a' },
  { ground: '#f5dade', main: '#d47c8e', deep: '#8d3b52', bright: '#f8ead2' },
  { ground: '#e3e8d3', main: '#8a9f55', deep: '#4c5c2c', bright: '#e39a5f' },
  { ground: '#e4e0d8', main: '#99917f', deep: '#45403a', bright: '#d9694a' },
];

type Random = () => number;
type Motif = (random: Random, inks: Inks) => JSX.Element;

/** The same numbers from 0 to 1 for the same text. */
function randomFrom(text: string): Random {
  let state = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) state = Math.imul(state ^ text.charCodeAt(at), 0x01000193);
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

const between = (random: Random, low: number, high: number) => Math.round(low + random() * (high - low));

const hills: Motif = (random, { main, deep, bright }) => (
  <>
    <circle cx={between(random, 70, 250)} cy={between(random, 45, 85)} r={between(random, 22, 36)} fill={bright} />
    <ellipse cx={between(random, 20, 120)} cy="210" rx={between(random, 150, 210)} ry={between(random, 80, 110)} fill={main} />
    <ellipse cx={between(random, 200, 310)} cy="225" rx={between(random, 150, 200)} ry={between(random, 80, 115)} fill={deep} />
  </>
);

const arcs: Motif = (random, { main, deep, bright }) => {
  const left = random() < 0.5;
  const x = left ? 0 : WIDTH;
  return (
    <>
      <circle cx={x} cy={HEIGHT} r="185" fill={main} />
      <circle cx={x} cy={HEIGHT} r="135" fill={bright} />
      <circle cx={x} cy={HEIGHT} r="88" fill={deep} />
      <circle
        cx={left ? between(random, 225, 275) : between(random, 45, 95)}
        cy={between(random, 45, 70)}
        r={between(random, 14, 26)}
        fill={deep}
      />
    </>
  );
};

const TILE = 40;
const QUARTERS = ['h40a40 40 0 0 1-40 40z', 'h40v40a40 40 0 0 1-40-40z', 'm40 0v40h-40a40 40 0 0 1 40-40z', 'v40h40a40 40 0 0 0-40-40z'];

const tiles: Motif = (random, { main, deep, bright }) => {
  const inks = [main, deep, bright, main];
  const paths = inks.map(() => '');
  for (let x = 0; x < WIDTH; x += TILE) {
    for (let y = 0; y < HEIGHT; y += TILE) {
      if (random() < 0.25) continue;
      const ink = between(random, 0, inks.length - 1);
      paths[ink] += `M${x} ${y}${QUARTERS[between(random, 0, 3)]}`;
    }
  }
  return (
    <>
      {paths.map((d, at) => (
        <path key={inks[at]} d={d} fill={inks[at]} />
      ))}
    </>
  );
};

const beams: Motif = (random, { main, deep, bright }) => {
  const shift = between(random, -40, 60);
  const beam = (x: number, width: number) => `M${x + shift} 210L${x + shift + 150} -10h${width}L${x + shift + width} 210z`;
  return (
    <>
      <path d={beam(-60, 50)} fill={main} />
      <path d={beam(10, 22)} fill={deep} />
      <path d={beam(52, 70)} fill={bright} />
      <path d={beam(140, 34)} fill={main} />
    </>
  );
};

const discs: Motif = (random, { main, deep, bright }) => {
  const y = between(random, 85, 115);
  return (
    <>
      <circle cx={between(random, 95, 125)} cy={y} r={between(random, 55, 70)} fill={main} />
      <circle
        cx={between(random, 185, 225)}
        cy={y + between(random, -25, 25)}
        r={between(random, 48, 62)}
        fill={deep}
        fill-opacity="0.85"
      />
      <circle cx={between(random, 140, 175)} cy={y + between(random, -20, 20)} r={between(random, 20, 32)} fill={bright} />
    </>
  );
};

const blocks: Motif = (random, { main, deep, bright }) => {
  const x = between(random, 90, 200);
  const y = between(random, 60, 130);
  return (
    <>
      <rect x="0" y="0" width={x - 5} height={y - 5} fill={main} />
      <rect x={x + 5} y={y + 5} width={WIDTH} height={HEIGHT} fill={deep} />
      <rect x={x + 5} y="0" width={between(random, 40, 80)} height={y - 5} fill={bright} />
      <circle cx={x / 2} cy={(y + HEIGHT) / 2} r={Math.min(x, HEIGHT - y) / 3} fill={bright} />
    </>
  );
};

const waves: Motif = (random, { main, deep, bright }) => {
  const lift = between(random, 12, 30);
  const wave = (y: number) => `M0 ${y}q40 ${-lift} 80 0t80 0t80 0t80 0V200H0z`;
  return (
    <>
      <circle cx={between(random, 60, 260)} cy={between(random, 36, 58)} r={between(random, 18, 28)} fill={bright} />
      <path d={wave(between(random, 85, 100))} fill={bright} fill-opacity="0.7" />
      <path d={wave(between(random, 118, 128))} fill={main} />
      <path d={wave(between(random, 148, 160))} fill={deep} />
    </>
  );
};

const leaves: Motif = (random, { main, deep, bright }) => {
  const turn = between(random, 0, 45);
  const petal = (angle: number, ink: string) => (
    <ellipse key={angle} cx="160" cy="55" rx="26" ry="50" fill={ink} transform={`rotate(${angle + turn} 160 105)`} />
  );
  return (
    <>
      {[0, 120, 240].map((angle) => petal(angle, main))}
      {[60, 180, 300].map((angle) => petal(angle, deep))}
      <circle cx="160" cy="105" r="22" fill={bright} />
    </>
  );
};

const MOTIFS: readonly Motif[] = [hills, arcs, tiles, beams, discs, blocks, waves, leaves];

export function Drawing({ seed }: { readonly seed: string }) {
  return useMemo(() => {
    const random = randomFrom(seed);
    const inks = PALETTES[between(random, 0, PALETTES.length - 1)] ?? (PALETTES[0] as Inks);
    const motif = MOTIFS[between(random, 0, MOTIFS.length - 1)] ?? hills;
    return (
      <svg class="drawing" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="xMidYMid slice" aria-hidden="true" focusable="false">
        <rect width={WIDTH} height={HEIGHT} fill={inks.ground} />
        {motif(random, inks)}
      </svg>
    );
  }, [seed]);
}
