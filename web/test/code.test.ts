import { expect, test } from 'vitest'
import { asCli, asTypeScript } from '../src/screens/create-vm/code.ts'

test('the TypeScript example logs in as the default user of the image', () => {
  const request = { regionId: 'cregion000', osTemplateId: 'cubuntu000', planId: 'csmall0000', hostname: 'web-1' }
  const lines = asTypeScript(request, 'https://berth.example', 'ubuntu').split('\n')
  expect(lines.at(-1)).toBe('console.log(`ssh ubuntu@${vm.ipAddress}`)')
  const names = { region: 'fra1', os: 'ubuntu', plan: 'small', user: 'ubuntu', alternatives: [] }
  const without = { ...request, publicIpv4: false }
  expect(asTypeScript(without, 'https://berth.example', 'ubuntu').split('\n').at(-1)).toBe('console.log(`ssh ubuntu@${vm.ipv6Address}`)')
  const copy = { regionId: 'cregion000', fromBackupId: 'cbackup000', planId: 'csmall0000', hostname: 'web-2' }
  expect(asCli(copy, names)).toMatch(/--from-backup cbackup000 \\\n {2}--plan small$/)
  expect(asCli(without, names)).toContain('--ipv6-only')
  expect(asCli({ ...request, labels: { env: 'prod', gpu: '' } }, names)).toMatch(/--label env=prod \\\n {2}--label gpu$/)
})

test('volumes are options of the CLI: new ones as they are to be, others by id', () => {
  const request = { regionId: 'cregion000', osTemplateId: 'cubuntu000', planId: 'csmall0000', hostname: 'web-1' }
  const names = { region: 'fra1', os: 'ubuntu', plan: 'small', user: 'root', alternatives: [] }
  const volumes = [{ name: 'my data', sizeGiB: 50, storage: 'LOCAL' as const }, { name: 'log', sizeGiB: 5 }, { volumeId: 'cvolume000' }]
  expect(asCli({ ...request, volumes }, names)).toMatch(
    /--volume 'name=my data,size=50,storage=local' \\\n {2}--volume 'name=log,size=5' \\\n {2}--volume cvolume000$/,
  )
})

test('several VMs are waited for one after the other, and alternatives are named by slug', () => {
  const request = { regionId: 'cregion000', osTemplateId: 'cubuntu000', planId: 'csmall0000', hostname: 'web-{n}', count: 3 }
  const names = { region: 'fra1', os: 'ubuntu', plan: 'small', user: 'root', alternatives: ['region=ams1,plan=nano'] }
  expect(asCli(request, names)).toMatch(/^berth vm create web-\{n\} [\s\S]*--count 3 \\\n {2}--alternative region=ams1,plan=nano$/)
  expect(asTypeScript(request, 'https://berth.example', 'root')).toContain(
    '  await berth.waitForAction({ vmId: id, actionId: created.actionIds![index]! })\n',
  )
})
