/** The web app and the start page of visitors without a session. It has no state: what the app shows it asks of `/v1`. */
import { Failure } from '../../../../protocol/core/errors.ts';
import type { webApp } from '../../../../protocol/people/web-app.ts';
import type { BaseCall } from '../../../edge/call.ts';
import type { Module, ModuleDeps } from '../../module.ts';
import { toSignIn } from '../pages/visitor.ts';
import type { AppFiles } from './files.ts';
import { homeReply } from './home-page.ts';
import { shellReply } from './shell.ts';

type Ids = keyof typeof webApp;

export function webAppModule({ config, appFiles }: Pick<ModuleDeps, 'config'> & { readonly appFiles: AppFiles }): Module<Ids> {
  const home = homeReply(config.baseUrl);
  const shell = shellReply(appFiles.manifest);
  const screen = (prefix: string) => (call: BaseCall & { readonly params: { readonly path: string } }) => {
    if (hasSession(call)) return shell;
    return toSignIn(`${prefix}/${call.params.path}`);
  };
  return {
    handlers: {
      'webApp.home': (call) => (hasSession(call) ? shell : home),
      'webApp.mine': screen('/my'),
      'webApp.artifact': screen('/p'),
      'webApp.workspace': screen('/w'),
      'webApp.design': () => shell,
      'webApp.file': (call) => {
        const file = appFiles.find(call.params.file);
        if (file === undefined) throw new Failure('NOT_FOUND');
        return file.reply(call);
      },
    },
  };
}

/** A token is for programs and opens no screen. */
function hasSession({ principal }: BaseCall): boolean {
  return principal.kind === 'user' && principal.tokenKind === 'session';
}
