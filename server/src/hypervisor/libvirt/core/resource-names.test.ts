import { describe, expect, test } from 'vitest'
import { backupName, diskName, domainName, markerName, readVolumeName, restartName, seedName, KVM_PROBE_DOMAIN } from './resource-names.ts'
import {
  isHelperDomain,
  diskHelperName,
  readerName,
  snapshotName,
  storageMarkName,
  templateName,
  vmIdOfDomain,
  volumeName,
} from './resource-names.ts'

describe('the name of a volume', () => {
  test.each([
    [diskName('cvm', 3), { kind: 'disk', id: 'cvm', vmId: 'cvm', generation: 3 }],
    [seedName('cvm', 3), { kind: 'seed', id: 'cvm', vmId: 'cvm', generation: 3 }],
    [snapshotName('cvm', 'cs'), { kind: 'snapshot', id: 'cs', vmId: 'cvm', generation: null }],
    [backupName('cvm', 'cb'), { kind: 'backup', id: 'cb', vmId: 'cvm', generation: null }],
    [volumeName({ volumeId: 'cv', generation: 0 }), { kind: 'volume', id: 'cv', vmId: null, generation: 0 }],
    [volumeName({ volumeId: 'cv', generation: 2 }), { kind: 'volume', id: 'cv', vmId: null, generation: 2 }],
    [templateName('ct'), { kind: 'template', id: 'ct', vmId: null, generation: null }],
    [markerName(diskName('cvm', 3)), { kind: 'marker', id: 'vm-cvm-3.qcow2.whole', vmId: 'cvm', generation: 3 }],
    [restartName('cvm', 'caction'), { kind: 'marker', id: 'restart-cvm-caction', vmId: 'cvm', generation: null }],
    [storageMarkName('cvm', 'cstorage'), { kind: 'marker', id: 'storage-cvm-cstorage', vmId: 'cvm', generation: null }],
    ['.space', { kind: 'marker', id: '.space', vmId: null, generation: null }],
    ['vm-cvm-3.qcow2.bak', { kind: 'unknown', id: 'vm-cvm-3.qcow2.bak', vmId: null, generation: null }],
    ['../vm-cvm-3.qcow2', { kind: 'unknown', id: '../vm-cvm-3.qcow2', vmId: null, generation: null }],
  ])('%s is parsed', (name, meaning) => {
    expect(readVolumeName(name)).toEqual(meaning)
  })

  test('disk and seed share one marker', () => {
    expect(markerName(seedName('cvm', 3))).toBe(markerName(diskName('cvm', 3)))
  })
})

test.each(['', '..', 'a/b', 'a-b', 'A', 'c'.repeat(65), 'a\n'])('%j is not an id', (id) => {
  for (const name of [domainName, templateName, (each: string) => diskName(each, 1)]) expect(() => name(id)).toThrow('is not an id')
})

test('reader, disk helper and probe domains are no VMs', () => {
  const names = [domainName('cvm'), readerName('cvm'), diskHelperName(diskName('cvm', 3)), KVM_PROBE_DOMAIN]
  expect(names.map((name) => [vmIdOfDomain(name), isHelperDomain(name)])).toEqual([
    ['cvm', false],
    [null, true],
    [null, true],
    [null, true],
  ])
})
