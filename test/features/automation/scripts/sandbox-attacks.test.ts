/** Scripts that attack the sandbox or the service around it. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ScriptSandbox } from '../../../../src/features/automation/scripts/sandbox.ts';
import { FakeWorld, newSandbox, running } from './sandboxed.ts';

let sandbox: ScriptSandbox;
let run: ReturnType<typeof running>;
let hasty: ScriptSandbox;
beforeAll(() => {
  // So much time that a busy machine ends no script before its memory does.
  sandbox = newSandbox({ wallMsMax: 60_000 });
  run = running(sandbox);
  hasty = newSandbox({ wallMsMax: 1000 });
});
afterAll(async () => {
  await sandbox?.close();
  await hasty?.close();
});

describe('[J10] a script', () => {
  it.each([
    ['a loop', 'for (;;);'],
    ['a loop that catches its interruption', 'for (;;) { try { for (;;); } catch {} }'],
    ['a loop of promises', 'for (;;) await null;'],
    ['a loop behind a catch', 'const hog = async () => { for (;;); }; for (;;) { try { await hog() } catch {} }'],
    ['backtracking of a regular expression', '/^(a+)+$/.test("a".repeat(60) + "b")'],
    ['a getter of its result', 'return { get a() { for (;;); } }'],
    ['a getter of what it throws', 'throw { get message() { for (;;); } }'],
    ['a timer that is too far', 'await new Promise((resolve) => setTimeout(resolve, 1e9))'],
    ['a call that is never answered', 'await easel.json.get("a")'],
    ['a sort that nothing interrupts', 'const a = Array.from({ length: 3e5 }, (_, n) => String(n % 7)); for (;;) a.sort().reverse();'],
  ])('ends at its deadline in %s', async (_, source) => {
    const world = new FakeWorld();
    world.reply = () => new Promise(() => undefined);
    const outcome = await running(hasty)(`console.log("begun");\n${source}`, { world });
    expect(outcome).toMatchObject({ ok: false, value: null, output: 'begun', error: { code: 'SCRIPT_TIMEOUT' } });
  });

  it.each([
    ['arrays', 'const a = []; for (;;) a.push({});'],
    ['typed arrays', 'const a = []; for (;;) a.push(new Uint8Array(1e6).fill(1));'],
    ['one large buffer', 'new ArrayBuffer(2 ** 30)'],
    ['texts', 'const a = []; for (;;) a.push("x".repeat(1e6) + a.length);'],
    ['one long text', 'return "x".repeat(2 ** 29)'],
    ['a map', 'const m = new Map(); for (let n = 0; ; n += 1) m.set(n, [n]);'],
    ['closures', 'let f = () => 0; for (;;) { const g = f; f = () => g; }'],
    ['promises', 'const a = []; for (;;) a.push(new Promise(() => {}));'],
    ['a parsed text', 'const a = []; const text = JSON.stringify(Array(1e5).fill({ a: 1 })); for (;;) a.push(JSON.parse(text));'],
    ['a spread array', 'let a = Array(1e6).fill(1); for (;;) a = [...a, ...a];'],
    ['calls that wait', 'const body = "x".repeat(1e6); await Promise.all(Array.from({ length: 200 }, () => easel.json.set("a", body)));'],
  ])('has 64 MB, whatever fills them: %s', async (_, source) => {
    const world = new FakeWorld();
    world.reply = () => new Promise(() => undefined);
    expect((await run(source, { world })).error?.code).toBe('SCRIPT_MEMORY');
    expect((await run('return 1')).value).toBe('1');
  });

  it('cannot outlive a memory error that it catches', async () => {
    const source = 'const a = []; try { for (;;) a.push(new Uint8Array(1e6)) } catch (error) { a.length = 0; return error.message }';
    expect((await run(source)).value).toBe('"out of memory"');
  });

  it.each([
    ['recursion', 'const f = () => f(); f();'],
    ['nested JSON', 'JSON.parse("[".repeat(1e6))'],
    ['nested arrays', 'let a = []; for (let n = 0; n < 1e5; n += 1) a = [a]; return a'],
    ['a proxy', 'const p = new Proxy({}, { get: (_, k, self) => self[k] }); p.a'],
    ['toString', 'const o = { toString() { return "" + o } }; String(o)'],
    ['a nested pattern', 'new RegExp("(".repeat(1e5) + ")".repeat(1e5))'],
    ['nested source', 'eval("(".repeat(1e5))'],
    ['a chain of accessors', 'const o = {}; Object.defineProperty(o, "a", { get() { return o.a } }); o.a'],
  ])('is stopped where it nests too deep: %s', async (_, source) => {
    expect((await run(source)).error?.code).toMatch(/^SCRIPT_(ERROR|MEMORY)$/);
    expect((await run('return 1')).value).toBe('1');
  });

  it('has its output cut, at a whole character, and still ends', async () => {
    const { ok, output } = await run('for (let n = 0; n < 1e5; n += 1) console.log("ü".repeat(1000));');
    expect(ok).toBe(true);
    expect(Buffer.byteLength(output)).toBeLessThanOrEqual(64 * 1024);
    expect(output).toMatch(/^ü[ü\n]+\n… The output was cut here\.$/);
    expect(Buffer.byteLength((await run('console.log("x".repeat(1e7))')).output)).toBeLessThanOrEqual(64 * 1024);
    expect(Buffer.byteLength((await run('return "ü".repeat(1e6)')).value ?? '')).toBe(64 * 1024 - 1);
    expect(Buffer.byteLength((await run('throw new Error("x".repeat(1e6))')).error?.message ?? '')).toBeLessThanOrEqual(2000);
  });
});

describe('a script', () => {
  it('has no way out: no globals of the host, and no constructor of one', async () => {
    const names = [
      'fetch',
      'require',
      'process',
      'globalThis.Buffer',
      'WebAssembly',
      'Worker',
      'MessageChannel',
      'postMessage',
      'XMLHttpRequest',
      'module',
      'natives',
      'script',
    ];
    expect((await run(`return [${names.map((name) => `typeof ${name}`).join()}]`)).value).toBe(
      JSON.stringify(names.map(() => 'undefined')),
    );
    const reach = `
      const found = [];
      const seen = new Set();
      const look = (value) => {
        if ((typeof value !== 'object' && typeof value !== 'function') || value === null || seen.has(value)) return;
        seen.add(value);
        for (const key of Reflect.ownKeys(value)) {
          const { value: inner, get } = Reflect.getOwnPropertyDescriptor(value, key);
          if (['send', 'finish', 'print', 'answered', 'fired', 'process', 'mainModule'].includes(key)) found.push(String(key));
          look(inner); look(get);
        }
        look(Reflect.getPrototypeOf(value));
      };
      look(globalThis);
      for (const make of [easel.json.get, console.log, setTimeout, easel.fetch])
        found.push(make.constructor.constructor('return typeof process + typeof require + typeof send')());
      return [found, seen.size > 100];`;
    expect((await run(reach)).value).toBe(`[[${Array(4).fill('"undefinedundefinedundefined"').join()}],true]`);
    expect((await run('return await import("node:fs").catch((error) => error.name)')).value).toMatch(/Error"$/);
  });

  it('that pollutes its prototypes changes nothing outside of its own run', async () => {
    const world = new FakeWorld();
    const source = `
      for (const name of ['path', 'method', 'body', 'status', 'failure', 'toJSON']) Object.prototype[name] = 'polluted';
      Array.prototype.push = () => { throw new Error('polluted') };
      JSON.stringify = JSON.parse = () => 'polluted';
      Promise.prototype.then = Promise.resolve = () => 'polluted';
      Map.prototype.get = String.prototype.replaceAll = Array.prototype.join = () => 'polluted';
      await easel.json.get('a').catch(() => {});`;
    await run(source, { world });
    expect(({} as Record<string, unknown>).path).toBeUndefined();
    expect(JSON.stringify({})).toBe('{}');
    const next = await run('return [{}.path, JSON.stringify([1]), await easel.json.get("a").then(() => 1)]');
    expect(next.value).toBe('[null,"[1]",1]');
  });

  it('reaches only its own paths, whatever it puts into names', async () => {
    const world = new FakeWorld();
    const names = ['..', '.', '', '%2e%2e', '../../other', 'a/b', 'a?b=1', 'a#b', 'a\\\\b', '\\ud800', 'a\\r\\nb'];
    for (const name of names) {
      await run(
        `for (const call of [easel.json.get, (n) => easel.table(n).get('r'), (n) => easel.table('t').delete(n), (n) => easel.table(n).aggregate({})])
        { try { await call('${name}') } catch {} }`,
        { world },
      );
    }
    for (const { path } of world.calls) {
      const inside = new URL(`http://host/v1/data/ID${path}`);
      expect(inside.pathname, path).toMatch(/^\/v1\/data\/ID\/(json|tables)\//);
      expect(inside.pathname.split('/').length, path).toBe((path.split('?')[0]?.split('/').length as number) + 3);
      expect([inside.hash, decodeURIComponent(path.split('?')[0] ?? '')], path).toEqual(['', expect.not.stringMatching(/\/\.\.?(\/|$)/)]);
    }
  });

  it('cannot close the function around it to gain anything', async () => {
    const { output } = await run('}); console.log(typeof process, typeof easel); (async () => {');
    expect(output).toBe('undefined object');
  });

  it('that kills its thread fails alone', async () => {
    // The memory of WebAssembly is full while texts are on their way in.
    const world = new FakeWorld();
    world.reply = () => ({ status: 200, body: { success: true, data: { value: 'x'.repeat(15 * 1024 * 1024) } } });
    const hog = run('const a = []; for (;;) a.push(await easel.json.get("a"));', { world }, 'a');
    const good = run(
      'return (await easel.json.list()).keys',
      { world: Object.assign(new FakeWorld(), { reply: () => ({ status: 200, body: { success: true, data: { keys: ['k'] } } }) }) },
      'b',
    );
    expect((await good).value).toBe('["k"]');
    expect((await hog).error?.code).toBe('SCRIPT_MEMORY');
  });

  it('finds nothing of the run before it in the same thread', async () => {
    const one = newSandbox({ threads: 1 });
    const runOne = running(one);
    await runOne('globalThis.left = "secret"; Object.prototype.left = "secret"; console.log("secret");');
    const { value, output } = await runOne('return [globalThis.left ?? null, {}.left ?? null]');
    expect([value, output]).toEqual(['[null,null]', '']);
    await one.close();
  });
});
