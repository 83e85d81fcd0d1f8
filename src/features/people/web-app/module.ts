/** The web app and the start page of visitors without a session. It has no state: what the app shows it asks of `/v1`. */
import { Failure } from '../../../../protocol/core/errors.ts';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import type { webApp } from '../../../../protocol/people/web-app.ts';
import type { Endpoints } from '../../../../protocol/table.ts';
import type { BaseCall, Call } from '../../../edge/call.ts';
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
      'webApp.ask': (call) => (hasSession(call) ? shell : toSignIn(askAddress(call.query))),
      'webApp.instance': (call) => (hasSession(call) ? shell : toSignIn('/instance')),
      'webApp.instancePart': screen('/instance'),
      'webApp.design': () => shell,
      'webApp.file': (call) => {
        const file = appFiles.find(call.params.file);
        if (file === undefined) throw new Failure('NOT_FOUND');
        return file.reply(call);
      },
    },
  };
}

/** With the question, where the way through the sign-in can carry it. */
function askAddress(asked: Call<Endpoints['webApp.ask']>['query']): string {
  const query = new URLSearchParams(Object.entries(asked).filter(([, value]) => value !== undefined));
  const address = query.size === 0 ? '/ask' : `/ask?${query}`;
  return address.length > LIMITS.returnToCharsMax ? '/ask' : address;
}

/** A token is for programs and opens no screen. */
function hasSession({ principal }: BaseCall): boolean {
  return principal.kind === 'user' && principal.tokenKind === 'session';
}
