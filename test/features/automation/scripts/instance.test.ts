/** An instance of QuickJS serves one script after the other: what must be the same for each of them. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { Engine, type EngineHost } from '../../../../src/features/automation/scripts/engine.ts';
import { answerOf } from '../../../../src/features/automation/scripts/host-calls.ts';
import { type Compiled, Instance } from '../../../../src/features/automation/scripts/instance.ts';
import type { ScriptEnd } from '../../../../src/features/automation/scripts/thread-messages.ts';
import { services } from '../../../support/services.ts';
import { FakeWorld } from './sandboxed.ts';

let compiled: Compiled;
beforeAll(() => {
  const wasmFile = createRequire(import.meta.url).resolve('@jitl/quickjs-wasmfile-release-sync/wasm');
  const prelude = readFileSync(join(services().builtDir, 'script-prelude.js'), 'utf8');
  compiled = { wasm: new WebAssembly.Module(readFileSync(wasmFile)), prelude };
});

const WALL_MS_MAX = 10_000;

/** Runs a script in this instance; its calls are answered by an empty world. */
async function runIn(
  instance: Instance,
  source: string,
  wallMsMax = WALL_MS_MAX,
): Promise<{ engine: Engine; end: ScriptEnd; output: string[] }> {
  const output: string[] = [];
  const world = new FakeWorld();
  const unexpected = (error: unknown) => {
    throw error;
  };
  const call: EngineHost['call'] = (id, of, head, body) =>
    void answerOf(world, { of, head, body }, unexpected).then((text) => engine.answered(id, text));
  const engine = new Engine({ print: (line) => output.push(line) > 0, call }, instance);
  return { engine, end: await engine.run(source, '{"a":1}', wallMsMax), output };
}

/** Each leaves something behind, in a way of its own. */
const SCRIPTS = [
  'return params',
  'globalThis.left = "secret"; Object.prototype.left = "secret"; Array.prototype.push = null; return 1',
  'console.log("x".repeat(100_000)); throw new TypeError("broken")',
  'let b = ;',
  'await new Promise(() => {})',
  'const both = [easel.json.get("a"), easel.json.get("b")]; return (await Promise.all(both)).length',
  'setTimeout(() => console.log("late"), 5000); return [..."aé😀"].map((c) => /[^a]/u.test(c))',
  'const all = []; for (let i = 0; i < 20_000; i += 1) all.push({ i, text: "t" + i }); all.sort((a, b) => b.i - a.i); return all.length',
  'return new Promise((resolve) => setTimeout(resolve, 2, new Date(0).toISOString()))',
];

it('after a run every byte of its memory is what it was before the first', async () => {
  const instance = await Instance.create(compiled);
  const first = Buffer.from(instance.memory.buffer.slice(0));
  for (const source of SCRIPTS) {
    const { engine } = await runIn(instance, source);
    expect(Buffer.from(instance.memory.buffer).equals(first), source).toBe(false);
    expect(engine.isOrderly && instance.restore(), source).toBe(true);
    expect(Buffer.from(instance.memory.buffer).equals(first), source).toBe(true);
  }
});

it('scripts end in an instance that others had as they do in a new one, in whatever order', async () => {
  const expected = await Promise.all(
    SCRIPTS.map(async (source) => {
      const { end, output } = await runIn(await Instance.create(compiled), source);
      return { end, output };
    }),
  );
  const instance = await Instance.create(compiled);
  for (let round = 0; round < SCRIPTS.length; round += 1)
    for (const [at, source] of [...SCRIPTS.entries()].toSorted(
      ([a], [b]) => ((a * 7 + round) % SCRIPTS.length) - ((b * 7 + round) % SCRIPTS.length),
    )) {
      const { end, output } = await runIn(instance, source);
      expect({ end, output }, source).toEqual(expected[at]);
      expect(instance.restore()).toBe(true);
    }
});

it('draws other random numbers in each run', async () => {
  const instance = await Instance.create(compiled);
  const drawn = new Set<string>();
  for (let run = 0; run < 5; run += 1) {
    const { end } = await runIn(
      instance,
      'const all = Array.from({ length: 500 }, Math.random); return [Math.min(...all) >= 0, Math.max(...all) < 1, all[0]]',
    );
    const [isFromZero, isBelowOne, first] = JSON.parse('value' in end ? (end.value ?? '[]') : '[]');
    expect([isFromZero, isBelowOne]).toEqual([true, true]);
    drawn.add(String(first));
    expect(instance.restore()).toBe(true);
  }
  expect(drawn.size).toBe(5);
});

it('is not used again where its memory has grown or where the script was interrupted', async () => {
  const grown = await Instance.create(compiled);
  const large = await runIn(grown, 'return new Uint8Array(30_000_000).length');
  expect([large.end, large.engine.isOrderly, grown.restore()]).toEqual([{ value: '30000000' }, true, false]);
  const looping = await Instance.create(compiled);
  const { engine, end } = await runIn(looping, 'for (;;);', 50);
  expect(end).toMatchObject({ error: { code: 'SCRIPT_TIMEOUT' } });
  expect(engine.isOrderly).toBe(false);
});
