/** Signatures of what is sent out, with values that were made by other programs. */
import { describe, expect, it } from 'vitest';
import { newSecret, signatureOf, signedHeaders } from '../../../../src/features/automation/webhooks/sign.ts';

// The example of the Standard Webhooks specification and of its libraries.
const STANDARD = {
  secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
  id: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
  timestampS: 1614265330,
  body: '{"test": 2432232314}',
};

describe('signatures', () => {
  it('ours is HMAC-SHA256 of "t.body" with the secret as it is written', () => {
    // printf '1700000000.{"a":1}' | openssl dgst -sha256 -hmac s3cret
    expect(signatureOf('s3cret', 1_700_000_000, '{"a":1}')).toBe(
      't=1700000000,v1=1698a50bc74d1ff1db85c4e0a5297c2ad9fdba245d5737cdb789e4cc6e098940',
    );
  });

  it('[J7] those of Standard Webhooks stand beside it, one for each secret that is valid', () => {
    const { secret, ...rest } = STANDARD;
    const one = signedHeaders({ ...rest, secrets: [secret] });
    expect(one).toMatchObject({
      'webhook-id': STANDARD.id,
      'webhook-timestamp': '1614265330',
      'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
    });
    const other = newSecret();
    const both = signedHeaders({ ...rest, secrets: [other, secret] });
    expect(both['webhook-signature']?.split(' ')).toEqual([expect.stringMatching(/^v1,/), one['webhook-signature']]);
    expect(both['easel-signature']?.split(',').slice(1)).toEqual([
      signatureOf(other, rest.timestampS, rest.body).split(',')[1],
      signatureOf(secret, rest.timestampS, rest.body).split(',')[1],
    ]);
  });

  it('[J7] nothing is signed with an empty secret or none, and a made one is long and new each time', () => {
    expect(() => signatureOf('', 1, 'x')).toThrow('empty');
    expect(() => signedHeaders({ id: 'dlv_1', secrets: [], timestampS: 1, body: 'x' })).toThrow('at least one');
    const secrets = new Set(Array.from({ length: 50 }, newSecret));
    expect(secrets.size).toBe(50);
    for (const secret of secrets) expect(Buffer.from(secret.slice('whsec_'.length), 'base64').length).toBe(32);
  });

  it('a secret that somebody chose has only our signature', () => {
    for (const secret of ['chosen', 'whsec_short', 'whsec_not base64 at all, but long enough for it'])
      expect(signedHeaders({ id: 'dlv_1', secrets: [secret], timestampS: 1, body: 'x' })).not.toHaveProperty('webhook-signature');
  });
});
