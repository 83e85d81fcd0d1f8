/** Examples of the business domain. */
import { billingExamples } from './billing-examples.ts';
import { planExamples } from './plan-examples.ts';
import { supportExamples } from './support-examples.ts';

export const businessExamples = { ...billingExamples, ...planExamples, ...supportExamples } as const;
