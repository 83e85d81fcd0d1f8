import { describe, expect, test } from 'vitest';
import { databaseWords, dataDirWords, inWords, redisWords, SettingUnusable, storeWords } from '../../src/storage/start-failures.ts';

function failure(code: string, fields: object = {}): Error {
  return Object.assign(new Error(`${code}: as the system says it`), { code }, fields);
}

describe('failures of the disk name DATA_DIR', () => {
  const words = dataDirWords('/srv/easel');
  test.each([
    ['EIO', 'does not work: its disk or mount fails'],
    ['ESTALE', 'does not work: its disk or mount fails'],
    ['ENOTCONN', 'does not work: its disk or mount fails'],
    ['ENOSPC', 'is on a disk that is full'],
    ['EROFS', 'is on a file system that is mounted read-only'],
    ['EDQUOT', 'is beyond the quota'],
  ])('%s', (code, trouble) => {
    const sentence = words(failure(code, { path: '/srv/easel/objects' }));
    expect(sentence).toMatch(/^DATA_DIR: \/srv\/easel\/objects /);
    expect(sentence).toContain(trouble);
    expect(sentence).toContain(`(${code}).`);
  });

  test('a failed copy names its target folder', () => {
    expect(words(failure('ENOSPC', { path: '/opt/easel/dist/template', dest: '/srv/easel/postgres' }))).toMatch(
      /^DATA_DIR: \/srv\/easel is/,
    );
  });

  test('the reason may be the cause of a more general error', () => {
    expect(words(new Error('The embedded database did not start', { cause: failure('EIO') }))).toContain('(EIO)');
  });
});

describe('failures of the database and the object store', () => {
  test('a host with several addresses fails with one sentence', () => {
    const every = new AggregateError([failure('ECONNREFUSED'), failure('ECONNREFUSED')]);
    expect(databaseWords('postgres://a:secret@db/x')(every)).toBe(
      'DATABASE_URL: the database at db/x cannot be reached: nothing listens there (ECONNREFUSED). Start it, or correct the address.',
    );
  });

  test.each([
    ['SignatureDoesNotMatch', /^S3_ACCESS_KEY, S3_SECRET_KEY: /],
    ['AccessDenied', /^S3_ACCESS_KEY, S3_SECRET_KEY: /],
    ['BucketAlreadyExists', /^S3_BUCKET: /],
    ['AuthorizationHeaderMalformed', /^S3_REGION: /],
    ['DEPTH_ZERO_SELF_SIGNED_CERT', /^S3_ENDPOINT: .+ TLS fails /],
    ['SlowDown', /^S3_ENDPOINT: .+ cannot be used \(SlowDown: /],
  ])('a store that answers %s', (code, expected) => {
    const words = storeWords({ S3_ENDPOINT: 'https://store:9000', S3_BUCKET: 'easel' });
    expect(words(failure(code))).toMatch(expected);
  });
});

describe('failures of Redis name REDIS_URL and never its password', () => {
  const words = redisWords('redis://easel:secret@cache:6379/2');
  test.each([
    [failure('ECONNREFUSED'), 'REDIS_URL: Redis at cache:6379/2 cannot be reached: nothing listens there (ECONNREFUSED).'],
    [failure('DEPTH_ZERO_SELF_SIGNED_CERT'), 'cannot be reached: TLS fails'],
    [new Error('WRONGPASS invalid username-password pair or user is disabled.'), 'refuses the user or the password'],
    [new Error('LOADING Redis is loading the dataset in memory'), 'still loads its data'],
    [new Error('ERR unknown command'), 'cannot be used (ERR unknown command)'],
  ])('%s', (error, expected) => {
    const sentence = words(error);
    expect(sentence).toContain(expected);
    expect(sentence).not.toContain('secret');
  });

  test('anything else is a bug', () => {
    expect(words(new TypeError('x is not a function'))).toBeUndefined();
  });
});

describe('a bug keeps its stack', () => {
  test('an error without a code, and a file of the program itself that is missing', async () => {
    const bug = new TypeError('x is not a function');
    await expect(inWords(Promise.reject(bug), dataDirWords('/srv/easel'))).rejects.toBe(bug);
    const missing = failure('ENOENT', { path: '/opt/easel/dist/migrations' });
    await expect(inWords(Promise.reject(missing), databaseWords('postgres://db/x'))).rejects.toBe(missing);
    await expect(inWords(Promise.reject(failure('EIO')), dataDirWords('/srv/easel'))).rejects.toBeInstanceOf(SettingUnusable);
  });
});
