/** The file in a data folder that says which process has it. In a module of its own, so that the probe loads nothing else. */
export const LOCK_NAME = 'easel.lock';
