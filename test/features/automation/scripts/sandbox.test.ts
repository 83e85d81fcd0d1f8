/** What a script can do, and how its run ends. Attacks are in sandbox-attacks.test.ts. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Failure } from '../../../../protocol/core/errors.ts';
import { EgressFailure } from '../../../../src/egress/failure.ts';
import type { ScriptSandbox } from '../../../../src/features/automation/scripts/sandbox.ts';
import { TextReply } from '../../../../src/features/automation/scripts/world.ts';
import { FakeWorld, logged, newSandbox, running } from './sandboxed.ts';

let sandbox: ScriptSandbox;
let run: ReturnType<typeof running>;
beforeAll(() => {
  sandbox = newSandbox();
  run = running(sandbox);
});
afterAll(() => sandbox?.close());

describe('a script', () => {
  it('is the body of an async function: await and return work at its top', async () => {
    const outcome = await run('const one = await Promise.resolve(1); // a comment\nreturn { sum: one + params.two }', {
      params: { two: 2 },
    });
    expect(outcome).toEqual({ ok: true, value: '{"sum":3}', output: '', error: null, calls: 0 });
    expect(await run('')).toMatchObject({ ok: true, value: null });
    expect(await run('return params // the last line')).toMatchObject({ value: 'null' });
  });

  it('prints lines in the order of its calls', async () => {
    const { output } = await run(`
      console.log('text', 1, null, undefined, { a: [true] });
      console.warn('careful');
      console.error(new TypeError('wrong'), 'a\\0b');
    `);
    expect(output).toBe('text 1 null undefined {"a":[true]}\n[warn] careful\n[error] TypeError: wrong a\uFFFDb');
  });

  it.each([
    ['\n\nthrow new Error("broken")', 'SCRIPT_ERROR', 'Error: broken', 3],
    ['const f = () => {\n  null.a;\n};\nf();', 'SCRIPT_ERROR', "TypeError: cannot read property 'a' of null", 2],
    ['throw 7', 'SCRIPT_ERROR', 'The script threw 7', undefined],
    ['throw { code: "X" }', 'SCRIPT_ERROR', 'The script threw {"code":"X"}', undefined],
    ['let a = 1;\nlet b = ;', 'SCRIPT_SYNTAX', expect.stringContaining('SyntaxError'), 2],
    ['import x from "fs"', 'SCRIPT_SYNTAX', expect.stringContaining('SyntaxError'), 1],
    ['const a = {}; a.a = a; return a', 'SCRIPT_ERROR', expect.stringContaining('circular'), undefined],
  ])('that fails says where: %j', async (source, code, message, line) => {
    const { ok, error } = await run(source);
    expect(ok).toBe(false);
    expect(error).toEqual({ code, message, ...(line !== undefined && { line }) });
  });

  it('waits with setTimeout, and leaves alone what it has cleared or not awaited', async () => {
    const { value, output } = await run(`
      const cleared = setTimeout(() => console.log('cleared'), 1);
      clearTimeout(cleared);
      setTimeout(() => console.log('too late'), 5000);
      return await new Promise((resolve) => setTimeout(resolve, 5, 'waited'));
    `);
    expect([value, output]).toEqual(['"waited"', '']);
  });

  it('that awaits what nothing can settle is stalled, at once', async () => {
    expect((await run('console.log("before"); await new Promise(() => {})')).error?.code).toBe('SCRIPT_STALLED');
    expect((await run('await easel.json.get("a"); await new Promise(() => {})')).error?.code).toBe('SCRIPT_STALLED');
  });

  it('that is canceled ends at once, also before it has begun', async () => {
    const world = new FakeWorld();
    const canceled = new AbortController();
    world.reply = () => {
      canceled.abort();
      return new Promise(() => undefined);
    };
    const outcome = await run('console.log("asking"); await easel.json.get("a")', { world, signal: canceled.signal });
    expect(outcome).toMatchObject({ ok: false, output: 'asking', error: { code: 'SCRIPT_CANCELED' }, calls: 1 });
    expect((await run('return 1', { signal: AbortSignal.abort() })).error?.code).toBe('SCRIPT_CANCELED');
    expect((await run('return 1')).value).toBe('1');
  });

  it('that is too large, or has too large params, is refused', async () => {
    await expect(run(`//${'x'.repeat(256 * 1024)}`)).rejects.toMatchObject({ code: 'PAYLOAD_TOO_LARGE', details: { param: 'source' } });
    await expect(run('', { params: 'x'.repeat(64 * 1024) })).rejects.toMatchObject({ details: { param: 'params' } });
    expect((await run(`//${'x'.repeat(256 * 1024 - 2)}`)).ok).toBe(true);
  });
});

describe('the calls of a script', () => {
  it('are those of the page SDK', async () => {
    const world = new FakeWorld();
    const { error } = await run(
      `
      await easel.json.set('a b', { x: 1 }, { ttlS: 60, ifAbsent: true });
      await easel.json.get('a', { path: '$.x' });
      await easel.json.patch('a', { x: null });
      await easel.json.increment('n', 2, '$.count');
      await easel.json.increment('n');
      await easel.json.delete('a', { ifMatch: '"1"' });
      await easel.json.list({ prefix: 'p/', values: true });
      const orders = easel.table('orders');
      await orders.insert([{ a: 1 }], { onConflict: 'a', merge: true });
      await orders.query({ filter: { a: { $gt: 1 } }, sort: '-createdAt', limit: 5, select: ['a'] });
      await orders.get('row_1');
      await orders.update('row_1', { a: 2 });
      await orders.delete('row_1');
      await orders.count({ a: 1 });
      await orders.aggregate({ groupBy: ['a'], metrics: [{ fn: 'count' }] });
    `,
      { world },
    );
    expect(error).toBeNull();
    const merge = { 'content-type': 'application/merge-patch+json' };
    expect(world.calls).toEqual([
      { method: 'PUT', path: '/json/a%20b?ttl=60', headers: { 'if-none-match': '*' }, body: { x: 1 } },
      { method: 'GET', path: '/json/a?path=%24.x', headers: {} },
      { method: 'PATCH', path: '/json/a', headers: merge, body: { x: null } },
      { method: 'PATCH', path: '/json/n', headers: {}, body: { op: 'increment', path: '$.count', by: 2 } },
      { method: 'PATCH', path: '/json/n', headers: {}, body: { op: 'increment', by: 1 } },
      { method: 'DELETE', path: '/json/a', headers: { 'if-match': '"1"' } },
      { method: 'GET', path: '/json?prefix=p%2F&values=true', headers: {} },
      { method: 'POST', path: '/tables/orders?onConflict=a&merge=true', headers: {}, body: [{ a: 1 }] },
      {
        method: 'POST',
        path: '/tables/orders/query',
        headers: {},
        body: { filter: { a: { $gt: 1 } }, sort: '-createdAt', limit: 5, select: ['a'] },
      },
      { method: 'GET', path: '/tables/orders/row_1', headers: {} },
      { method: 'PATCH', path: '/tables/orders/row_1', headers: {}, body: { a: 2 } },
      { method: 'DELETE', path: '/tables/orders/row_1', headers: {} },
      { method: 'POST', path: '/tables/orders/count', headers: {}, body: { filter: { a: 1 } } },
      { method: 'POST', path: '/tables/orders/aggregate', headers: {}, body: { groupBy: ['a'], metrics: [{ fn: 'count' }] } },
    ]);
  });

  it('answer with data, with nothing where there is nothing, or throw with the code of the API', async () => {
    const world = new FakeWorld();
    world.reply = ({ path }) => {
      if (path.startsWith('/json/missing'))
        return { status: 404, body: { success: false, code: 'KEY_NOT_FOUND', error: 'There is none.' } };
      if (path.startsWith('/json/mine'))
        return { status: 403, body: { success: false, code: 'FORBIDDEN', error: 'Not yours.', hint: 'Ask.', param: 'key' } };
      return { status: 200, body: { success: true, data: { key: 'a', value: [1], updatedAt: 'now' } } };
    };
    const { value } = await run(
      `const caught = await easel.json.get('mine').catch((error) => error);
       return [await easel.json.get('a'), await easel.json.get('missing') === undefined, await easel.json.delete('missing'),
         caught instanceof easel.EaselError, caught.code, caught.status, caught.message, caught.hint, caught.param]`,
      { world },
    );
    expect(JSON.parse(value ?? '')).toEqual([[1], true, false, true, 'FORBIDDEN', 403, 'Not yours.', 'Ask.', 'key']);
    expect((await run('\nawait easel.json.get("mine")', { world })).error).toMatchObject({
      code: 'SCRIPT_ERROR',
      message: 'FORBIDDEN: Not yours.',
    });
  });

  it('reach the outside by easel.fetch', async () => {
    const world = new FakeWorld();
    const source = `
      const reply = await easel.fetch('https://example.com/a', { method: 'post', headers: { 'X-A': 1 }, body: { b: 2 } });
      return [reply.status, reply.ok, reply.url, reply.headers['content-type'], await reply.text(), await reply.json()];`;
    const { value } = await run(source, { world });
    expect(JSON.parse(value ?? '')).toEqual([201, true, 'https://example.com/a', 'application/json', '{"a":1}', { a: 1 }]);
    expect(world.fetches).toEqual([{ method: 'POST', url: 'https://example.com/a', headers: { 'X-A': '1' }, body: '{"b":2}' }]);
    expect((await run('await easel.fetch("https://example.com", { method: "CONNECT" })', { world })).error?.message).toContain(
      'the method must be',
    );
    expect((await run('await easel.fetch("https://example.com", { headers: { a: "b\\r\\nc: d" } })', { world })).error?.message).toContain(
      'INVALID_REQUEST',
    );
    expect(world.fetches).toHaveLength(1);
  });

  it('that fail on our side throw a code, and tell the script nothing of a bug', async () => {
    const failing = (error: Error) => {
      const world = new FakeWorld();
      world.call = () => Promise.reject(error);
      world.fetch = () => Promise.reject(error);
      return { world };
    };
    const codeOf = 'return await CALL.catch(({ code, message }) => [code, message])';
    const asked = codeOf.replace('CALL', 'easel.json.get("a")');
    const unavailable = new Failure('UNAVAILABLE', { message: 'Wait.' });
    expect((await run(asked, failing(unavailable))).value).toBe('["UNAVAILABLE","Wait."]');
    const blocked = new EgressFailure('blocked', 'That host is not called.');
    expect((await run(codeOf.replace('CALL', 'easel.fetch("http://a")'), failing(blocked))).value).toBe(
      '["FETCH_FAILED","That host is not called."]',
    );
    logged.length = 0;
    expect((await run(asked, failing(new Error('secret detail')))).value).toBe('["INTERNAL","The call failed."]');
    expect(logged).toEqual([{ err: expect.objectContaining({ message: 'secret detail' }) }]);
  });

  it('are at most eight at once and a thousand in all', async () => {
    const world = new FakeWorld();
    let [now, most] = [0, 0];
    world.reply = async () => {
      now += 1;
      most = Math.max(most, now);
      await new Promise(setImmediate);
      now -= 1;
      return { status: 200, body: { success: true, data: { value: 1 } } };
    };
    const all =
      'return (await Promise.allSettled(Array.from({ length: N }, () => easel.json.get("a")))).filter(({ status, reason }) => reason?.code ?? status === "fulfilled").length';
    expect(await run(all.replace('N', '1000'), { world })).toMatchObject({ value: '1000', calls: 1000 });
    expect(most).toBe(8);
    const over = await run('await Promise.all(Array.from({ length: 1001 }, () => easel.json.get("a")))', { world });
    expect(over).toMatchObject({ error: { code: 'SCRIPT_ERROR', message: expect.stringContaining('TOO_MANY_CALLS') } });
  });

  it('that the script did not await are made before the run ends, and a failure is told', async () => {
    const world = new FakeWorld();
    world.reply = async ({ path }) => {
      await new Promise(setImmediate);
      return path.endsWith('b')
        ? { status: 403, body: { success: false, code: 'FORBIDDEN', error: 'No.' } }
        : { status: 200, body: { success: true, data: {} } };
    };
    const { ok, output } = await run('for (let n = 0; n < 20; n += 1) easel.json.set("a", n);\neasel.json.set("b", 1);', { world });
    expect([ok, world.calls.length]).toEqual([true, 21]);
    expect(output).toBe('[error] A call that the script did not await failed: FORBIDDEN');
  });

  it('take the text of an answer as it is, and throw where it is no JSON', async () => {
    const world = new FakeWorld();
    world.reply = ({ path }) =>
      new TextReply(200, path.endsWith('cut') ? '{"success":true,"data":{"value":[1' : '{"success":true,"data":{"value":[1,"é"]}}');
    const { value } = await run('return [await easel.json.get("a"), await easel.json.get("cut").catch(({ code }) => code)]', { world });
    expect(value).toBe('[[1,"é"],"UNREADABLE_REPLY"]');
  });

  it('with an answer that is too large throw', async () => {
    const world = new FakeWorld();
    world.reply = () => ({ status: 200, body: { success: true, data: { value: 'x'.repeat(17 * 1024 * 1024) } } });
    expect((await run('return await easel.json.get("a").catch(({ code }) => code)', { world })).value).toBe('"ANSWER_TOO_LARGE"');
  });
});

describe('the runs of a node', () => {
  it('take turns by share, and none holds all threads', async () => {
    const few = newSandbox({ threads: 2 });
    const runFew = running(few);
    const order: string[] = [];
    const held = new Map<string, () => void>();
    const worldOf = (name: string) => {
      const world = new FakeWorld();
      world.reply = () =>
        new Promise((resolve) => {
          order.push(name);
          held.set(name, () => resolve({ status: 200, body: { success: true, data: { value: 1 } } }));
        });
      return { world };
    };
    const source = 'await easel.json.get("a")';
    const runs = ['a1', 'a2', 'a3', 'b1'].map((name) => runFew(source, worldOf(name), name[0]));
    // The second run of a waits although a thread is free, so that b finds one.
    await expect.poll(() => [...order].sort()).toEqual(['a1', 'b1']);
    held.get('a1')?.();
    await expect.poll(() => order).toContain('a2');
    expect(few.running).toBe(2);
    held.get('b1')?.();
    held.get('a2')?.();
    await expect.poll(() => order).toContain('a3');
    held.get('a3')?.();
    expect((await Promise.all(runs)).every(({ ok }) => ok)).toBe(true);
    await few.close();
  });

  it('are refused where too many of one share wait, and canceled where the sandbox closes', async () => {
    const one = newSandbox({ threads: 1 });
    const runOne = running(one);
    const world = new FakeWorld();
    world.reply = () => new Promise(() => undefined);
    const waiting = Array.from({ length: 51 }, () => runOne('await easel.json.get("a")', { world }));
    await expect(runOne('return 1')).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    const other = runOne('return 1', {}, 'b');
    await one.close();
    expect((await Promise.all([...waiting, other])).map(({ error }) => error?.code)).toEqual(Array(52).fill('SCRIPT_CANCELED'));
  });
});
