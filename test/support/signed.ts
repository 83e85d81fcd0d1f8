/** Signs what a mail or chat server of a test brings. */
import { signatureOf } from '../../src/features/automation/webhooks/sign.ts';
import { TEST_INBOUND_SECRET, type TestEasel } from './easel.ts';

/** The header easel-signature of a body, now by the clock of the service. */
export function signedBy(easel: Pick<TestEasel, 'clock'>, body: Uint8Array | string, secret: string = TEST_INBOUND_SECRET): string {
  return signatureOf(secret, Math.floor(easel.clock.nowMs() / 1000), body);
}
