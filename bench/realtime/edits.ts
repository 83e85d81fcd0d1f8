/** Cases in which all servers get the same edits: the cost and latency of deliveries and edits. */
import type { Table } from '../report/report.ts';
import { atMost, rounded, type Spread, spreadOf, type Verdict, withSpread } from '../report/statistics.ts';
import type { Edited, Editing } from './editing.ts';
import { type Contender, generated, type RealtimeStage } from './realtime-stage.ts';

export interface Part {
  readonly table: Table;
  readonly verdicts: readonly Verdict[];
  readonly rounds: unknown;
}

/** Longer before the first round, because the JIT compilers of a new process are busy for about ten seconds. */
const FIRST_WARM_UP_S = 15;
const WARM_UP_S = 3;

interface EditCase {
  readonly title: string;
  readonly contenders: readonly Contender[];
  readonly documents: number;
  readonly readersEach: number;
  /** Edits/s of each writer. */
  readonly editsPerS: number;
  readonly durationS: number;
  /** Warm-up before the first round. Default: FIRST_WARM_UP_S. */
  readonly firstWarmUpS?: number;
  readonly rounds: number;
  readonly notes: readonly string[];
}

export interface Carried {
  readonly name: string;
  /** Server CPU µs. */
  readonly usPerDelivery: Spread;
  readonly usPerEdit: Spread;
  readonly deliveryP50Ms: Spread;
  readonly deliveryP99Ms: Spread;
  readonly savedP50Ms: Spread | null;
  readonly savedP99Ms: Spread | null;
  readonly undelivered: number;
  readonly rounds: readonly Edited[];
}

async function carry(stage: RealtimeStage, plan: EditCase): Promise<Carried[]> {
  const done = new Map<Contender, Edited[]>(plan.contenders.map((contender) => [contender, []]));
  for (let round = 0; round < (stage.quick ? 1 : plan.rounds); round++) {
    for (const [contender, rounds] of done) {
      const editing: Editing = {
        places: Array.from({ length: plan.documents }, () => contender.place(stage.fresh())),
        readersEach: plan.readersEach,
        editsPerS: plan.editsPerS,
        warmUpS: stage.quick ? 1 : round === 0 ? (plan.firstWarmUpS ?? FIRST_WARM_UP_S) : WARM_UP_S,
        durationS: stage.quick ? 3 : plan.durationS,
        serverPid: contender.server.pid,
      };
      const edited = await generated<Edited>(stage.folder, 'generate-editing', editing);
      console.log(
        `  ${plan.title}, round ${round + 1}, ${contender.name}: ${rounded(edited.serverCpuUs / edited.deliveries)} µs a delivery, p99 ${rounded(edited.delivery.p99Ms)} ms, generator ${Math.round(edited.generatorShare * 100)} %`,
      );
      rounds.push(edited);
    }
  }
  return [...done].map(([{ name }, rounds]) => carriedOf(name, rounds));
}

function carriedOf(name: string, rounds: readonly Edited[]): Carried {
  const of = (pick: (round: Edited) => number) => spreadOf(rounds.map(pick));
  const saves = rounds.every((round) => round.saved !== null);
  return {
    name,
    usPerDelivery: of((round) => round.serverCpuUs / round.deliveries),
    usPerEdit: of((round) => round.serverCpuUs / round.edits),
    deliveryP50Ms: of((round) => round.delivery.p50Ms),
    deliveryP99Ms: of((round) => round.delivery.p99Ms),
    savedP50Ms: saves ? of((round) => round.saved?.p50Ms ?? Number.NaN) : null,
    savedP99Ms: saves ? of((round) => round.saved?.p99Ms ?? Number.NaN) : null,
    undelivered: rounds.reduce((sum, round) => sum + round.undelivered, 0),
    rounds,
  };
}

function tableOf(plan: EditCase, all: readonly Carried[]): Table {
  return {
    title: plan.title,
    columns: [
      'Server',
      'CPU µs a delivery',
      'CPU µs an edit',
      'Delivered p50 ms',
      'p99 ms',
      'Saved p50 ms',
      'p99 ms',
      'Undelivered',
      'Generator',
    ],
    rows: all.map((each) => [
      each.name,
      withSpread(each.usPerDelivery),
      withSpread(each.usPerEdit),
      withSpread(each.deliveryP50Ms),
      withSpread(each.deliveryP99Ms),
      each.savedP50Ms === null ? '–' : withSpread(each.savedP50Ms),
      each.savedP99Ms === null ? '–' : withSpread(each.savedP99Ms),
      String(each.undelivered),
      `${Math.round(Math.max(...each.rounds.map((round) => round.generatorShare)) * 100)} %`,
    ]),
    notes: plan.notes,
  };
}

function named(all: readonly Carried[], { name }: Contender): Carried {
  const found = all.find((each) => each.name === name);
  if (found === undefined) throw new Error(`${name} is not in this case.`);
  return found;
}

function part(plan: EditCase, all: readonly Carried[], verdicts: readonly Verdict[]): Part {
  const lost = all.filter(({ name, undelivered }) => name.startsWith('Easel') && undelivered > 0);
  const whole = atMost(
    `Undelivered edits, ${plan.title}`,
    lost.reduce((sum, { undelivered }) => sum + undelivered, 0),
    0,
    '',
  );
  return { table: tableOf(plan, all), verdicts: [...verdicts, whole], rounds: all };
}

export async function fanOut(stage: RealtimeStage): Promise<Part> {
  const { easel, easelHocuspocus, relay, hocuspocus, yWebsocket } = stage;
  const plan: EditCase = {
    title: '1 document, 1 writer, 50 readers',
    contenders: [relay, easel, easelHocuspocus, hocuspocus, yWebsocket],
    documents: 1,
    readersEach: 50,
    editsPerS: 800,
    durationS: 6,
    rounds: 2,
    notes: [
      '800 edits/s of one character. Easel commits each to Postgres; the relay and @y/websocket-server store nothing; Hocuspocus stores the whole document after 2 s.',
    ],
  };
  const all = await carry(stage, plan);
  const ours = named(all, easel).usPerDelivery.median;
  return part(plan, all, [
    atMost('CPU a delivery to the raw relay, 50 readers', ours / named(all, relay).usPerDelivery.median, 1.6, '×'),
    atMost('CPU a delivery to Hocuspocus, 50 readers', ours / named(all, hocuspocus).usPerDelivery.median, 0.35, '×'),
  ]);
}

export async function pairs(stage: RealtimeStage): Promise<Part> {
  const { easel, easelHocuspocus, relay, hocuspocus, yWebsocket } = stage;
  const plan: EditCase = {
    title: '100 documents, 1 writer and 1 reader each',
    contenders: [relay, easel, easelHocuspocus, hocuspocus, yWebsocket],
    documents: 100,
    readersEach: 1,
    editsPerS: 20,
    durationS: 6,
    rounds: 2,
    notes: ['2000 edits/s together.'],
  };
  const all = await carry(stage, plan);
  const ratio = named(all, easel).usPerEdit.median / named(all, hocuspocus).usPerEdit.median;
  return part(plan, all, [atMost('CPU an edit to Hocuspocus, 100 documents', ratio, 0.6, '×')]);
}

/** The same edit rate over ten times as many documents. */
export async function flat(stage: RealtimeStage): Promise<Part> {
  const { easel } = stage;
  const plan = (documents: number): EditCase => ({
    title: `${documents} documents, 1 writer and 1 reader each, 1000 edits/s together`,
    contenders: [easel],
    documents,
    readersEach: 1,
    editsPerS: 1000 / documents,
    durationS: 6,
    rounds: 2,
    notes: [],
  });
  const few = await carry(stage, plan(100));
  const many = await carry(stage, plan(1000));
  const all = [
    { ...named(few, easel), name: 'Easel, 100 documents' },
    { ...named(many, easel), name: 'Easel, 1000 documents' },
  ];
  const ratio = named(many, easel).usPerEdit.median / named(few, easel).usPerEdit.median;
  const title = '1000 edits/s over 100 and over 1000 documents';
  return part({ ...plan(1000), title }, all, [atMost('CPU an edit, 1000 documents to 100', ratio, 1.25, '×')]);
}

export async function observers(stage: RealtimeStage): Promise<Part> {
  const { easel, relay } = stage;
  const plan: EditCase = {
    title: '1 writer, 1500 observers',
    contenders: [relay, easel],
    documents: 1,
    readersEach: 1500,
    editsPerS: 10,
    durationS: 6,
    rounds: 2,
    notes: ['10 edits/s, 15 000 deliveries/s; the generator receives them all on one core.'],
  };
  const all = await carry(stage, plan);
  return part(plan, all, [atMost('p99 of a delivery to 1500 observers', named(all, easel).deliveryP99Ms.median, 60, 'ms')]);
}

export async function saved(stage: RealtimeStage): Promise<Part> {
  const { easel, easelHocuspocus } = stage;
  const plan: EditCase = {
    title: '2000 edits/s over 100 documents, until stored',
    contenders: [easel, easelHocuspocus],
    documents: 100,
    readersEach: 0,
    editsPerS: 20,
    durationS: 6,
    rounds: 2,
    notes: ['Time from the edit to the acknowledgement that it is in Postgres, which flushes every commit.'],
  };
  const all = await carry(stage, plan);
  const ours = named(all, easel);
  return part(plan, all, [
    atMost('p50 until stored at 2000 edits/s', ours.savedP50Ms?.median ?? Number.NaN, 5, 'ms'),
    atMost('p99 until stored at 2000 edits/s', ours.savedP99Ms?.median ?? Number.NaN, 20, 'ms'),
  ]);
}

/** One writer at the target rate: the server keeps up if the last edit is delivered and stored without a backlog. */
export async function typing(stage: RealtimeStage): Promise<Part> {
  const { easel } = stage;
  const plan: EditCase = {
    title: '1 document, 10 000 edits/s one character each',
    contenders: [easel],
    documents: 1,
    readersEach: 1,
    editsPerS: 10_000,
    durationS: 6,
    // The generator's own copy grows with every edit and becomes slower.
    firstWarmUpS: WARM_UP_S,
    rounds: 2,
    notes: ['The writer applies each edit to its own Y.Doc on the generator’s core.'],
  };
  const all = await carry(stage, plan);
  const perS = spreadOf(named(all, easel).rounds.map((round) => round.edits / round.elapsedS));
  const slowest = {
    what: 'Edits/s delivered without a backlog',
    aim: '≥ 9 900 /s',
    value: `${rounded(perS.median)} /s`,
    reached: perS.median >= 9900,
  };
  return part(plan, all, [slowest]);
}
