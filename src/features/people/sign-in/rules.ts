/** Which ways to sign in there are, and who may change those of a person. */
import type { Principal } from '../../../../actors/access/access.ts';
import { Failure } from '../../../../protocol/core/errors.ts';
import type { Config } from '../../../platform/config.ts';

type Way = 'password' | 'email_code';

const WAY_NAMES = { password: 'with a password', email_code: 'with a code by e-mail' } as const satisfies Record<Way, string>;

export function offers({ SIGN_IN_WAYS }: Pick<Config, 'SIGN_IN_WAYS'>, way: Way): boolean {
  return SIGN_IN_WAYS.split(',').includes(way);
}

/** Throws FORBIDDEN where the installation does not offer this way. */
export function requireOffered(config: Pick<Config, 'SIGN_IN_WAYS'>, way: Way): void {
  if (offers(config, way)) return;
  throw new Failure('FORBIDDEN', {
    message: `This installation offers no sign-in ${WAY_NAMES[way]}.`,
    hint: 'GET /v1/auth/providers lists the ways that it offers.',
  });
}

/** Throws FORBIDDEN. What gives a new way to sign in must come from somebody who is signed in: a token that has leaked is not enough. */
export function requireSession(principal: Principal): void {
  if (principal.kind === 'user' && principal.tokenKind === 'session') return;
  throw new Failure('FORBIDDEN', {
    message: 'This needs a signed-in session, not a token.',
    hint: 'Sign in with a browser and do it there.',
  });
}
