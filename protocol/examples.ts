/** One real call of every endpoint. The reference shows it, and the conformance test makes it with its own ids. */
import { artifactsExamples } from './artifacts/examples.ts';
import { alertExamples } from './automation/alert-examples.ts';
import { automationExamples } from './automation/examples.ts';
import { businessExamples } from './business/examples.ts';
import { instanceExamples } from './business/instance-examples.ts';
import type { Example } from './core/example.ts';
import { coreExamples } from './core/examples.ts';
import { dataExamples } from './data/examples.ts';
import { assetExamples } from './library/asset-examples.ts';
import { libraryExamples } from './library/examples.ts';
import { peopleExamples } from './people/examples.ts';
import { sharingExamples } from './sharing/examples.ts';
import { externalExamples } from './sharing/external-examples.ts';
import type { EndpointId } from './table.ts';
import { workspacesExamples } from './workspaces/examples.ts';

/** A new endpoint without an example does not compile. */
export const EXAMPLES: { readonly [I in EndpointId]: Example } = {
  ...coreExamples,
  ...peopleExamples,
  ...artifactsExamples,
  ...dataExamples,
  ...workspacesExamples,
  ...libraryExamples,
  ...assetExamples,
  ...sharingExamples,
  ...externalExamples,
  ...automationExamples,
  ...alertExamples,
  ...instanceExamples,
  ...businessExamples,
};
