/** How many tokens the agents of a workspace may have. */
import { Failure } from '../../../../protocol/core/errors.ts';
import { LIMITS } from '../../../../protocol/core/limits.ts';

/** Throws AGENT_TOKEN_LIMIT_EXCEEDED. */
export function requireRoomForAgentToken(usableTokens: number): void {
  if (usableTokens >= LIMITS.agentTokensPerWorkspaceMax) throw new Failure('AGENT_TOKEN_LIMIT_EXCEEDED');
}
