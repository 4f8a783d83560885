import { expect, test } from 'vitest'
import { asCli, asTypeScript } from '../src/screens/create-vm/code.ts'

test('the TypeScript example logs in as the default user of the image', () => {
  const request = { regionId: 'cregion000', osTemplateId: 'cubuntu000', planId: 'csmall0000', hostname: 'web-1' }
  const lines = asTypeScript(request, 'https://berth.example', 'ubuntu').split('\n')
  expect(lines.at(-1)).toBe('console.log(`ssh ubuntu@${vm.ipAddress}`)')
  const without = { ...request, publicIpv4: false }
  expect(asTypeScript(without, 'https://berth.example', 'ubuntu').split('\n').at(-1)).toBe('console.log(`ssh ubuntu@${vm.ipv6Address}`)')
  const copy = { regionId: 'cregion000', fromBackupId: 'cbackup000', planId: 'csmall0000', hostname: 'web-2' }
  expect(asCli(copy, { region: 'fra1', os: 'ubuntu', plan: 'small', user: 'ubuntu' })).toMatch(
    /--from-backup cbackup000 \\\n {2}--plan small$/,
  )
  expect(asCli(without, { region: 'fra1', os: 'ubuntu', plan: 'small', user: 'ubuntu' })).toContain('--ipv6-only')
})
