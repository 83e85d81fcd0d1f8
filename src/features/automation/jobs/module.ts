import type { Module } from '../../module.ts';
import { jobHandlers } from './handlers.ts';

type Ids = keyof ReturnType<typeof jobHandlers>;

export function jobsModule(): Module<Ids> {
  return { handlers: jobHandlers() };
}
