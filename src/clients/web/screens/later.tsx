/**
 * The screens that are loaded after the first one, all at once: they share nearly everything, and each part that is loaded by itself would cut what it
 * shares with the first screen into files of their own.
 */
import { AskScreen } from './ask/ask-screen.tsx';
import { AssetsScreen } from './assets/assets-screen.tsx';
import { MyBilling } from './billing/my-billing.tsx';
import { InstanceScreen } from './instance/instance.tsx';
import { SupportScreen } from './support/support.tsx';
import { WorkspaceScreen } from './workspace/workspace.tsx';

export const LATER = {
  Ask: AskScreen,
  Assets: AssetsScreen,
  Billing: MyBilling,
  Instance: InstanceScreen,
  Support: SupportScreen,
  Workspace: WorkspaceScreen,
} as const;
