/** Who calls, and whether they may: the first two questions of every request. */
import { ANONYMOUS, type ArtifactHead, decide, type Principal, type Role, roleOf } from '../../actors/access.ts';
import type { Access } from '../../protocol/endpoint.ts';
import { Failure } from '../../protocol/errors.ts';
import type { ArtifactId } from '../../protocol/ids.ts';
import { chain } from './chain.ts';

/** Names the principal of a bearer token. Throws UNAUTHORIZED with its reason. */
export interface Authenticator {
  authenticate(bearer: string): Principal | Promise<Principal>;
}

export interface Heads {
  /** Live artifacts only. */
  get(id: ArtifactId): ArtifactHead | Promise<ArtifactHead | null>;
  trashed(id: ArtifactId): Promise<ArtifactHead | null>;
}

export interface Admitted {
  readonly head: ArtifactHead | undefined;
  readonly role: Role;
}

type ArtifactAccess = Extract<Access, { who: 'artifact' }>;

const NO_ARTIFACT: Admitted = { head: undefined, role: 'none' };
const BEARER = /^bearer +(\S+)$/i;

export class Admission {
  readonly #tokens: Authenticator;
  readonly #heads: Heads;

  constructor(tokens: Authenticator, heads: Heads) {
    this.#tokens = tokens;
    this.#heads = heads;
  }

  /** A bad credential is refused even where none is needed: its holder believes to be somebody. */
  principal(access: Access, authorization: string): Principal | Promise<Principal> {
    if (access.who === 'anyone') return ANONYMOUS;
    if (authorization === '') {
      if (access.who === 'account') throw new Failure('UNAUTHORIZED', { reason: 'missing' });
      return ANONYMOUS;
    }
    const bearer = authorization.startsWith('Bearer so') ? authorization.slice(7) : BEARER.exec(authorization)?.[1];
    if (bearer === undefined) throw new Failure('UNAUTHORIZED', { reason: 'invalid' });
    return chain(this.#tokens.authenticate(bearer), (principal) => {
      if (access.who === 'account' && principal.kind === 'agent')
        refuseAgent(access.scope !== undefined && principal.scopes.includes(access.scope), access.scope);
      return principal;
    });
  }

  /** `params` is undefined where the path cannot name an artifact. */
  admit(access: Access, principal: Principal, params: Readonly<Record<string, unknown>> | undefined): Admitted | Promise<Admitted> {
    if (access.who !== 'artifact') return NO_ARTIFACT;
    if (params === undefined) return admitted(null, principal, access);
    const id = params[access.param] as ArtifactId;
    if (access.trashed) return this.#admitTrashed(id, principal, access);
    return chain<ArtifactHead | null, Admitted>(this.#heads.get(id), (head) => admitted(head, principal, access));
  }

  /** The trash shows itself to owners only; whoever may own a live artifact learns that it is not in the trash. */
  async #admitTrashed(id: ArtifactId, principal: Principal, access: ArtifactAccess): Promise<Admitted> {
    const trashed = await this.#heads.trashed(id);
    if (trashed === null) {
      admitted(await this.#heads.get(id), principal, access);
      throw new Failure('NOT_DELETED');
    }
    return admitted(roleOf(trashed, principal) === 'owner' ? trashed : null, principal, access);
  }
}

function refuseAgent(hasScope: boolean, scope: string | undefined): void {
  if (hasScope) return;
  if (scope === undefined) throw new Failure('FORBIDDEN', { message: 'Workspace agents may not do this.' });
  throw new Failure('INSUFFICIENT_SCOPE', { message: `The token lacks the scope ${scope}.` });
}

function admitted(head: ArtifactHead | null, principal: Principal, access: ArtifactAccess): Admitted {
  const decision = decide(head, principal, access.need, access.scope);
  switch (decision) {
    case 'allowed':
      return head === null ? NO_ARTIFACT : { head, role: roleOf(head, principal) };
    case 'unauthenticated':
      throw new Failure('UNAUTHORIZED', { reason: 'missing' });
    case 'hidden':
      throw new Failure('ARTIFACT_NOT_FOUND');
    case 'forbidden':
      throw new Failure('FORBIDDEN');
    case 'insufficient_scope':
      throw new Failure('INSUFFICIENT_SCOPE', { message: `The token lacks the scope ${access.scope}.` });
    default:
      return decision satisfies never;
  }
}
