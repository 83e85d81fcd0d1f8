import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/support/global-setup.ts'],
    // CI has two cores; more workers only make every server slower to start.
    maxWorkers: 2,
    // These only end tests that hang: a busy machine takes many times as long as an idle one.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    expect: { poll: { timeout: 60_000 } },
  },
});
