import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import LongestFirst from './ops/longest-first.ts'

if (Number(process.versions.node.split('.')[0]) < 24) {
  throw new Error(`The tests run on the Node that package-lock.json pins, and this is ${process.version}. Use npm test, or npx vitest.`)
}

// `npm test` runs the first project; `npm run prove` adds the slow proofs (crashes, load, races at scale) of the second.
const shared = {
  globalSetup: ['./server/test/global-setup.ts'],
  environment: 'node' as const,
  // Test files share a worker's module graph: loading it again for every file costs more than the tests themselves.
  isolate: false,
  pool: 'forks' as const,
  testTimeout: 120_000,
  hookTimeout: 120_000,
  // What happens soon may take a while on a busy machine.
  expect: { poll: { timeout: 30_000 } },
}

// Programs of the repository use these packages as they are written; elsewhere they use them as they were built.
const source = (name: string): string => fileURLToPath(new URL(`./${name}/src/index.ts`, import.meta.url))
const resolve = { alias: { '@berth/libvirt': source('libvirt'), '@berth/ovsdb': source('ovsdb'), '@berth/sdk': source('sdk') } }

export default defineConfig({
  test: {
    // One more than cores: tests wait for guests, timers and processes.
    maxWorkers: 3,
    sequence: { sequencer: LongestFirst },
    // npm run coverage (ops/coverage.mjs) enables it.
    coverage: {
      provider: 'v8',
      reporter: ['json-summary'],
      include: ['{cli,libvirt,ovsdb,sdk,server}/src/**/*.ts'],
      exclude: ['**/*.{test,prove}.ts'],
    },
    reporters: ['default', './ops/skip-reporter.ts'],
    projects: [
      {
        resolve,
        test: {
          ...shared,
          name: 'test',
          include: ['{cli/test,libvirt,ovsdb/test,sdk/test,server/src,server/test,ops,web/test}/**/*.test.ts'],
        },
      },
      {
        resolve,
        test: {
          ...shared,
          name: 'prove',
          include: ['{cli/test,libvirt,ops,ovsdb/test,sdk/test,server,bench,e2e,web/test}/**/*.prove.ts'],
          testTimeout: 300_000,
        },
      },
      // npm run screens
      { resolve, test: { ...shared, name: 'screens', include: ['web/test/take-screens.ts'] } },
      // npm run docs:pictures
      { resolve, test: { ...shared, name: 'pictures', include: ['web/test/pictures.ts'] } },
    ],
  },
})
