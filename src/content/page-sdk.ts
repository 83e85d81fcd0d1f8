/** Serves the page SDK: the built script, completed with the artifact whose data it uses. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ArtifactId } from '../../protocol/core/ids.ts';

export type SdkFile = 'sdk.js' | 'sdk.mjs' | 'sdk.d.ts' | 'sdk-doc.mjs' | 'sdk-yjs.mjs' | 'overlay.js' | 'chat.js';

export interface SdkSite {
  /** Empty where the page names it. */
  readonly artifactId: ArtifactId | '';
  /** Base URL of the API; empty for the page's own origin. */
  readonly baseUrl: string;
}

export const SDK_MIMES: Readonly<Record<SdkFile, string>> = {
  'sdk.js': 'text/javascript; charset=utf-8',
  'sdk.mjs': 'text/javascript; charset=utf-8',
  'sdk.d.ts': 'text/plain; charset=utf-8',
  'sdk-doc.mjs': 'text/javascript; charset=utf-8',
  'sdk-yjs.mjs': 'text/javascript; charset=utf-8',
  'overlay.js': 'text/javascript; charset=utf-8',
  'chat.js': 'text/javascript; charset=utf-8',
};

export function isSdkFile(name: string): name is SdkFile {
  return Object.hasOwn(SDK_MIMES, name);
}

export class PageSdk {
  /** A script that defines a function which returns `easel`. */
  readonly #core: string;
  /** Types of the scripts of jobs. */
  readonly jobTypes: string;
  /** Identical for every page. */
  readonly #files: Readonly<Record<Exclude<SdkFile, 'sdk.js' | 'sdk.mjs'>, string>>;

  /** `folder`: where the build has written the script. */
  constructor(folder: string) {
    const read = (file: string) => readFileSync(join(folder, file), 'utf8');
    this.#core = read('sdk.core.js');
    this.jobTypes = read('easel-jobs.d.ts');
    this.#files = {
      'sdk.d.ts': read('sdk.d.ts'),
      'sdk-doc.mjs': read('sdk-doc.mjs'),
      'sdk-yjs.mjs': read('sdk-yjs.mjs'),
      'overlay.js': read('overlay.js'),
      'chat.js': read('chat.js'),
    };
  }

  text(file: SdkFile, site: SdkSite): string {
    const easel = `${this.#core}(${JSON.stringify(site)})`;
    switch (file) {
      case 'sdk.js':
        return `globalThis.easel=${easel};\n`;
      case 'sdk.mjs':
        return `export const easel=${easel};\nexport const{EaselError,connect}=easel;\n`;
      case 'sdk.d.ts':
      case 'sdk-doc.mjs':
      case 'sdk-yjs.mjs':
      case 'overlay.js':
      case 'chat.js':
        return this.#files[file];
      default:
        return file satisfies never;
    }
  }
}
