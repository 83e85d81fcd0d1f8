/** The verifiers of deploy/webhooks, each run in its own language over the same deliveries. */
import { execFileSync, spawnSync } from 'node:child_process';
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it, onTestFinished, test } from 'vitest';
import { newSecret, signedHeaders } from '../../src/features/automation/webhooks/sign.ts';
import { temporaryDir } from '../support/database.ts';

interface Case {
  readonly body: string;
  readonly header: string;
  readonly secret: string;
  readonly now: number;
  readonly expected: boolean;
}

const NOW_S = 1_767_225_600;
const [secret, other] = [newSecret(), newSecret()];
const body = '{"id":"dlv_1","type":"data.changed","data":{"text":"ñandú 🎨"}}';
const headerOf = (secrets: readonly string[], timestampS = NOW_S, text = body) =>
  signedHeaders({ id: 'dlv_1', secrets, timestampS, body: text })['easel-signature'] ?? '';
const right = { body, header: headerOf([secret]), secret, now: NOW_S + 10, expected: true };

const CASES: readonly Case[] = [
  right,
  { ...right, header: headerOf([other, secret]) },
  { ...right, header: headerOf([secret, other]) },
  { ...right, header: headerOf([other]), expected: false },
  { ...right, body: `${body} `, expected: false },
  { ...right, now: NOW_S + 301, expected: false },
  { ...right, now: NOW_S - 301, expected: false },
  { ...right, header: headerOf([secret]).replace(String(NOW_S), String(NOW_S + 1)), expected: false },
  { ...right, header: headerOf([secret]).slice(0, -2), expected: false },
  { ...right, header: `t=${NOW_S}`, expected: false },
  { ...right, header: `t=${NOW_S},v1=`, expected: false },
  { ...right, header: headerOf([secret]).replace(/^t=\d+/, 't=１'), expected: false },
  { ...right, header: 'nonsense', expected: false },
  { ...right, header: '', expected: false },
];
const EXPECTED = CASES.map(({ expected }) => expected);

const at = (name: string) => resolve('deploy/webhooks', name);
const has = (command: string, argument: string) => spawnSync(command, [argument]).status === 0;
/** CI has every language: a skipped test counts as failed there. */
const inLanguage = (command: string, argument = '--version') => (has(command, argument) ? test : test.skip);

function folderWith(...names: string[]): string {
  const folder = temporaryDir();
  onTestFinished(() => folder.remove());
  for (const name of names) copyFileSync(at(name), join(folder.path, name));
  writeFileSync(join(folder.path, 'cases.json'), JSON.stringify(CASES));
  return folder.path;
}

describe('the verifiers take what is signed, once rotated too, and nothing else', () => {
  test('in JavaScript', async () => {
    const { verify } = await import(at('verify.mjs'));
    const found = CASES.map((one) => verify(Buffer.from(one.body), one.header, one.secret, { nowS: one.now }));
    expect(found).toEqual(EXPECTED);
    expect(verify(body, undefined, secret)).toBe(false);
  });

  inLanguage('python3')('in Python', () => {
    const cwd = folderWith('verify.py');
    const program = `
import json
from verify import verify
print(json.dumps([verify(c["body"].encode(), c["header"], c["secret"], now_s=c["now"]) for c in json.load(open("cases.json"))]))`;
    expect(JSON.parse(execFileSync('python3', ['-c', program], { cwd, encoding: 'utf8' }))).toEqual(EXPECTED);
  });

  inLanguage('go', 'version')('in Go', { timeout: 300_000 }, () => {
    const cwd = folderWith('verify.go');
    writeFileSync(join(cwd, 'go.mod'), 'module webhooks\n\ngo 1.19\n');
    writeFileSync(
      join(cwd, 'verify_test.go'),
      `package webhooks

import ("encoding/json"; "os"; "testing"; "time")

func TestCases(t *testing.T) {
	text, _ := os.ReadFile("cases.json")
	var cases []struct { Body, Header, Secret string; Now int64; Expected bool }
	if err := json.Unmarshal(text, &cases); err != nil { t.Fatal(err) }
	if len(cases) != ${CASES.length} { t.Fatal("cases are missing") }
	for at, c := range cases {
		if Verify([]byte(c.Body), c.Header, c.Secret, 300*time.Second, time.Unix(c.Now, 0)) != c.Expected { t.Errorf("case %d", at) }
	}
}
`,
    );
    // Nothing is fetched: the verifier needs the standard library alone.
    const env = { ...process.env, GOFLAGS: '-mod=mod', GOPROXY: 'off', GOCACHE: join(cwd, 'cache'), GOTOOLCHAIN: 'local' };
    const { status, stdout } = spawnSync('go', ['test', './...'], { cwd, env, encoding: 'utf8' });
    expect([status, stdout]).toEqual([0, expect.stringContaining('ok')]);
  });
});

it('CI installs the languages of the verifiers', () => {
  const script = readFileSync('.ci/run', 'utf8');
  for (const name of ['python3', 'golang-go']) expect(script).toContain(name);
});
