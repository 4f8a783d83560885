import { expect, test } from 'vitest'
import { asTypeScript } from '../src/screens/create-vm/code.ts'

test('the code of an order ends with how to log in as the user of its template', () => {
  const request = { regionId: 'cregion000', osTemplateId: 'cubuntu000', planId: 'csmall0000', hostname: 'web-1' }
  const lines = asTypeScript(request, 'https://berth.example', 'ubuntu').split('\n')
  expect(lines.at(-1)).toBe('console.log(`ssh ubuntu@${vm.ipAddress}`)')
})
