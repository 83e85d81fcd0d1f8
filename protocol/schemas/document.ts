import { z } from 'zod';
import { patterned } from '../pattern.ts';

const DOCUMENT = /^[a-zA-Z][a-zA-Z0-9_-]{0,63}$/;
/** Source: contract.md §6. */
export const documentName = patterned(
  z.string().regex(DOCUMENT, 'must be a letter and then at most 63 letters, digits, underscores and hyphens'),
  DOCUMENT,
);
