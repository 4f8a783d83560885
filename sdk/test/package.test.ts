import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { generateKey } from '../../server/test/openssh-keys.ts'
import { eventually } from '../../server/test/processes.ts'
import { VERSION } from '../src/index.ts'
import { NODE_TYPES, packedPackage, type Outcome } from './packed-package.ts'
import { sdkFixture } from './fixture.ts'

const root = join(import.meta.dirname, '../..')
const sdk = await packedPackage()
const textOf = (path: string): string => readFileSync(join(sdk.installed, path), 'utf8')

describe('the package', () => {
  test('contains JavaScript, types and README only', () => {
    const unexpected = sdk.files.filter((path) => !/^(package\.json|README\.md|dist\/[\w/-]+\.(js|d\.ts))$/.test(path))
    expect(unexpected).toEqual([])
    expect(sdk.files).toEqual(expect.arrayContaining(['dist/index.js', 'dist/index.d.ts', 'README.md']))
  })

  test('has no dependencies, not even on Node', () => {
    const { dependencies, peerDependencies, version } = JSON.parse(textOf('package.json')) as Record<string, unknown>
    expect([dependencies, peerDependencies]).toEqual([undefined, undefined])
    expect(version).toBe(VERSION)
    const imports = sdk.files
      .filter((path) => path.startsWith('dist/'))
      .flatMap((path) => [...textOf(path).matchAll(/(?:from ?|import\()['"]([^'"]+)['"]/g)].map((match) => match[1]!))
    expect(imports.length).toBeGreaterThan(20)
    expect(imports.filter((name) => !name.startsWith('.'))).toEqual([])
    const sources = sdk.files.filter((path) => path.endsWith('.js')).map(textOf)
    expect(sources.filter((text) => /\b(process|Buffer|require)\b[.(]/.test(text))).toEqual([])
  })

  test('has types for browsers', async () => {
    sdk.write(
      'browser.ts',
      `import { Berth, isApiError, verifyWebhook, type Vm } from '@berth/sdk'
       const berth = new Berth({ baseUrl: location.origin, token: 'vmk_' })
       export const names: string[] = []
       for await (const vm of berth.vms.list({ status: 'RUNNING' })) names.push(vm.name)
       export const vm: Vm = await berth.vms.get('c')
       export const event = await verifyWebhook('', new Headers(), '')
       export const busy = (error: unknown) => isApiError(error, 'busy') && error.code === 'busy'`,
    )
    await sdk.compile(['browser.ts'], { lib: ['es2022', 'dom'], module: 'esnext', moduleResolution: 'bundler', types: [] })
    sdk.write('wrong.ts', `import type { Vm } from '@berth/sdk'\nexport const wrong = (vm: Vm): number => vm.name`)
    await expect(sdk.compile(['wrong.ts'], { ...NODE_TYPES })).rejects.toThrow("Type 'string' is not assignable to type 'number'")
  })
})

describe('the examples', async () => {
  const app = await sdkFixture()
  const customer = await app.given.customer({ credit: '100.00' })
  await app.given.vm(customer)
  const settings = { BERTH_URL: app.baseUrl, BERTH_TOKEN: customer.token, SSH_PUBLIC_KEY: generateKey().line, WEBHOOK_SECRET: 'whsec_eHg=' }
  const readme = examplesOf('sdk/README.md')
  const guide = examplesOf('docs/guide/sdk.md')
  const prelude = guide[0]!.replace(/^console.*\n/m, '')
  const programs = [...readme, ...guide].map((text) => (text.includes('new Berth(') ? text : `${prelude}\n${text}`))
  programs.forEach((text, i) => sdk.write(`example-${i}.ts`, text))
  await sdk.compile(
    programs.map((_, i) => `example-${i}.ts`),
    NODE_TYPES,
  )

  /** Runs an example with the system's Node while the worker processes its actions. */
  async function output(index: number): Promise<string> {
    let outcome: Outcome | Error | undefined
    const running = sdk.runByPlainNode(`example-${index}.js`, settings)
    running.then(
      (result) => (outcome = result),
      (error: Error) => (outcome = error),
    )
    await eventually(async () => {
      await app.settle()
      return outcome !== undefined
    })
    return (await running).stdout
  }

  test('run with the system Node and print what they should', async () => {
    const outputs: string[] = []
    for (const index of programs.keys()) outputs.push(await output(index))
    const [vm, account, lists, restart, price, error, key, event, receiver, handler] = outputs
    expect(vm).toMatch(/CREATE 100 %\nssh root@\d+\.\d+\.\d+\.\d+\n$/)
    expect(account).toBe(`${customer.email}\n`)
    expect(lists).toMatch(/^web-1 .*\nweb-1 .*\n1 \d+ \d+\n$/s)
    expect(restart).toMatch(/COMPLETED\n$/)
    expect(price).toMatch(/^\d+\.\d\d USD now, \d+\.\d\d a month, \d+\.\d\d left\n$/)
    expect(error).toBe('VM not found\n')
    expect(key).toBe('true\n')
    expect(event).toMatch(/^1 \S+\n$/)
    expect(receiver).toBe('')
    expect(handler).toMatch(/^GET http\S+\/regions 200 \d+\n$/)
    expect(outputs).toHaveLength(10)
  })
})

function examplesOf(path: string): string[] {
  return [...readFileSync(join(root, path), 'utf8').matchAll(/^```ts\n(.*?)^```$/gms)].map((match) => match[1]!)
}
