/** Pages of our own on the API's host. They have no state; what they show and change is behind the endpoints that they call. */
import { Failure } from '../../../../protocol/core/errors.ts';
import type { Handlers } from '../../../edge/call.ts';
import { HOME_STYLE, PAGES_STYLE } from '../../../edge/page-style.ts';
import { BANNER_SCRIPT } from '../../../edge/site-banner.ts';
import { StaticFile } from '../../../edge/static-file.ts';
import type { Viewing } from '../../artifacts/viewing/viewing.ts';
import type { Module, ModuleDeps } from '../../module.ts';
import type { DeviceApprovals } from '../device-login/approvals.ts';
import type { TokenService } from '../tokens/tokens.ts';
import { type AccessRequestCalls, accessRequestPages } from './access-request-page.ts';
import { type AccountCalls, accountPages } from './account-page.ts';
import { devicePages } from './device-pages.ts';
import { type InviteCalls, type InvitePreview, invitePages } from './invite-page.ts';
import { openPages } from './open-page.ts';
import { OwnCalls } from './own-calls.ts';
import { COPY_SCRIPT, PASSKEY_SCRIPT, THEME_SCRIPT } from './scripts.ts';
import { type SignInCalls, signInPages } from './sign-in-pages.ts';

type IdsOf<Calls> = Calls extends OwnCalls<infer Ids> ? Ids : never;
type Called = IdsOf<SignInCalls> | IdsOf<AccountCalls> | IdsOf<InviteCalls> | IdsOf<AccessRequestCalls> | 'accessRequests.create';

interface Needed {
  readonly approvals: DeviceApprovals;
  readonly tokens: TokenService;
  readonly preview: InvitePreview;
  readonly viewing: Viewing;
  /** The handlers of the endpoints that the pages call. */
  readonly called: Handlers<Called>;
}

type Ids =
  | 'pages.file'
  | keyof ReturnType<typeof invitePages>
  | keyof ReturnType<typeof accessRequestPages>
  | keyof ReturnType<typeof openPages>
  | keyof ReturnType<typeof signInPages>
  | keyof ReturnType<typeof accountPages>
  | keyof ReturnType<typeof devicePages>;

const FILE_HEADERS = { 'Cache-Control': 'public, no-cache', 'Cross-Origin-Resource-Policy': 'same-origin' };

export function pagesModule(deps: ModuleDeps & Needed): Module<Ids> {
  const calls = new OwnCalls<Called>(deps.called);
  const script = (text: string) => new StaticFile(text, 'text/javascript; charset=utf-8', FILE_HEADERS);
  const files = new Map<string, StaticFile>([
    ['pages.css', new StaticFile(PAGES_STYLE, 'text/css; charset=utf-8', FILE_HEADERS)],
    ['home.css', new StaticFile(HOME_STYLE, 'text/css; charset=utf-8', FILE_HEADERS)],
    ['theme.js', script(THEME_SCRIPT)],
    ['banner.js', script(BANNER_SCRIPT)],
    ['copy.js', script(COPY_SCRIPT)],
    ['passkey.js', script(PASSKEY_SCRIPT)],
  ]);
  return {
    handlers: {
      ...signInPages({ ...deps, calls }),
      ...accountPages({ ...deps, calls }),
      ...devicePages(deps),
      ...invitePages({ ...deps, calls }),
      ...accessRequestPages({ ...deps, calls }),
      ...openPages({ ...deps, ask: (call, body) => calls.make('accessRequests.create', call, { body }) }),
      'pages.file': (call) => {
        const file = files.get(call.params.file);
        if (file === undefined) throw new Failure('NOT_FOUND');
        return file.reply(call);
      },
    },
  };
}
