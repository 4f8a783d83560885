import { expect, test } from 'vitest'
import { readXml } from '../core/xml.ts'
import { guestTypesIn } from './guest-types.ts'

const capabilities = (firmware: string[], secure: string[], backends: string[]) => {
  const values = (name: string, list: string[]): string =>
    `<enum name='${name}'>${list.map((value) => `<value>${value}</value>`).join('')}</enum>`
  const os = `<os supported='yes'>${values('firmware', firmware)}<loader supported='yes'>${values('type', ['rom', 'pflash'])}${values('secure', secure)}</loader></os>`
  return readXml(
    `<domainCapabilities>${os}<devices><tpm supported='yes'>${values('model', ['tpm-crb'])}${values('backendModel', backends)}</tpm></devices></domainCapabilities>`,
  )
}

test('a host runs an architecture with what its firmware and programs offer', () => {
  expect(guestTypesIn(capabilities(['efi'], ['yes', 'no'], ['passthrough', 'emulator']), 'x86_64')).toEqual([
    'x86_64',
    'x86_64:uefi',
    'x86_64:secure-boot',
    'x86_64:tpm',
  ])
  expect(guestTypesIn(capabilities(['efi'], ['no'], ['passthrough']), 'x86_64')).toEqual(['x86_64', 'x86_64:uefi'])
  expect(guestTypesIn(capabilities([], ['no'], []), 'x86_64')).toEqual(['x86_64'])
})

test('ARM guests do not boot without the files of their firmware', () => {
  expect(guestTypesIn(capabilities([], ['no'], ['emulator']), 'aarch64')).toEqual([])
  expect(guestTypesIn(capabilities(['efi'], ['no'], []), 'aarch64')).toEqual(['aarch64', 'aarch64:uefi'])
})
