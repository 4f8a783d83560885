import { describe, expect, test } from 'vitest'
import type { Arch, MachineSpec } from '../../driver.ts'
import { someSpec } from '../../simulated/test-fixture.ts'
import { diskOf, domainXml, freeTarget, limitsByDisk, volumesOf, type DomainOptions } from './domain-xml.ts'
import { metadataOf } from './domain-metadata.ts'
import { readXml, type Element } from '../core/xml.ts'

const options: DomainOptions = {
  acceleration: 'emulation',
  room: { vcpu: 3, ramMiB: 2048 },
  canOffload: true,
  disk: { path: '/pool/disk', backing: '/pool/template' },
  seedPath: '/pool/seed',
  volumes: [],
  guestGroup: 109,
  remembered: { restartId: null, stop: null, startId: 'once' },
}
const ids = { vmId: 'cvm', accountId: 'caccount', uuid: '7b3c1d9e-0000-4000-8000-000000000001' }

function spec(arch: Arch, changes: Partial<MachineSpec> = {}): MachineSpec {
  const made = someSpec({ ...ids, ...changes })
  return { ...made, template: { ...made.template, arch }, nics: [{ ...made.nics[0]!, mac: '52:54:00:00:00:01' }] }
}

describe.each(['x86_64', 'aarch64'] as const)('the domain XML for %s', (arch) => {
  test('has owner and size', () => {
    const xml = readXml(domainXml(spec(arch, { vcpu: 3, ramMiB: 2048, generation: 7 }), options).xml)
    expect(metadataOf(xml)).toMatchObject({ vmId: 'cvm', accountId: 'caccount', generation: 7, hasAgent: true, startId: 'once' })
    expect([xml.find('name')?.text, xml.find('uuid')?.text]).toEqual(['berth-cvm', ids.uuid])
    expect([xml.find('vcpu')?.text, xml.find('memory')?.text]).toEqual(['3', '2048'])
    expect(xml.attribute('os/type/arch')).toBe(arch)
    expect(xml.all('devices/disk/source').map((source) => source.attributes['file'])).toEqual(['/pool/disk', '/pool/seed'])
  })

  test('runs as a user of its own, which does not own the template', () => {
    const xml = readXml(domainXml(spec(arch), options).xml)
    expect(xml.find('seclabel')?.attributes).toEqual({ type: 'static', model: 'dac', relabel: 'yes' })
    expect(xml.find('seclabel/label')?.text).toMatch(/^\+\d{10}:\+109$/)
    const [chain] = xml.all('devices/disk/backingStore')
    expect([chain?.attribute('source/file'), chain?.find('source/seclabel')?.attributes]).toEqual([
      '/pool/template',
      { model: 'dac', relabel: 'no' },
    ])
    expect(diskOf(xml)).toEqual({ path: '/pool/disk', backing: '/pool/template' })
    const standalone = readXml(domainXml(spec(arch), { ...options, disk: { path: '/pool/disk', backing: null }, guestGroup: null }).xml)
    expect([standalone.find('seclabel'), diskOf(standalone).backing]).toEqual([undefined, null])
  })

  test('starts a rescue system from a disk before all others on the bus, and keeps the name of its own', () => {
    const rescue = { generation: 9, template: { ...spec(arch).template, id: 'small', hasAgent: false } }
    const xml = readXml(
      domainXml(spec(arch, { generation: 7, rescue }), { ...options, rescueDisk: { path: '/pool/rescue', backing: null } }).xml,
    )
    expect(metadataOf(xml)).toMatchObject({ generation: 7, rescue: 9, hasAgent: false, templateId: spec(arch).template.id })
    const disks = xml
      .all('devices/disk')
      .map((disk) => [disk.attribute('source/file'), disk.attribute('target/dev'), disk.attribute('boot/order')])
    expect(disks).toEqual([
      ['/pool/disk', 'vda', undefined],
      ['/pool/rescue', 'vdaa', '1'],
      ['/pool/seed', 'vdb', undefined],
    ])
    expect(xml.all('devices/disk/address').map(({ attributes }) => attributes['bus'])).toEqual(['0x01'])
    expect(xml.all('devices/disk/serial').map(({ text }) => text)).toEqual(['own-disk'])
    expect(diskOf(xml).path).toBe('/pool/disk')
  })

  test('has volumes, found by a serial of 20 characters at most, and knows their ids again', () => {
    const id = 'c0123456789abcdefghijklm'
    const volumes = [
      { id, source: { path: `/pool/volume-${id}.qcow2`, backing: null } },
      { id: 'cother', source: { name: 'berth/volume-cother-3', monitors: ['10.0.0.1'], user: 'berth', secretUuid: ids.uuid } },
    ]
    const xml = readXml(domainXml(spec(arch), { ...options, volumes }).xml)
    expect(volumesOf(xml)).toEqual([
      { id, generation: 0, target: 'vdc' },
      { id: 'cother', generation: 3, target: 'vdd' },
    ])
    expect(xml.all('devices/disk/serial').map(({ text }) => text)).toEqual(['3456789abcdefghijklm', 'cother'])
    expect([freeTarget(xml), freeTarget(readXml(domainXml(spec(arch), options).xml)), xml.all('devices/disk/boot').length]).toEqual([
      'vde',
      'vdc',
      1,
    ])
  })

  test('has a disk in a storage backend, with the secret by its id alone', () => {
    const disk = {
      name: 'berth/vm-cvm-1',
      monitors: ['10.0.0.1', 'mon-b:6789', '[fd00::1]:3300', '[fd00::2]'],
      user: 'berth',
      secretUuid: ids.uuid,
    }
    const xml = readXml(domainXml(spec(arch, { diskLimits: { iops: 500, miBPerSecond: null } }), { ...options, disk }).xml)
    const [vda, seed] = xml.all('devices/disk')
    expect([vda?.attributes, seed?.attributes['type']]).toEqual([{ type: 'network', device: 'disk' }, 'file'])
    expect(vda?.find('driver')?.attributes).toMatchObject({ type: 'raw', discard: 'unmap', error_policy: 'enospace' })
    expect([vda?.attribute('auth/username'), vda?.find('auth/secret')?.attributes]).toEqual(['berth', { type: 'ceph', uuid: ids.uuid }])
    expect(vda?.find('source')?.attributes).toEqual({ protocol: 'rbd', name: 'berth/vm-cvm-1' })
    expect(vda?.all('source/host').map(({ attributes }) => attributes)).toEqual([
      { name: '10.0.0.1' },
      { name: 'mon-b', port: '6789' },
      { name: 'fd00::1', port: '3300' },
      { name: 'fd00::2' },
    ])
    expect(vda?.find('iotune/total_iops_sec')?.text).toBe('500')
  })

  test('reads an ISO image within the limits of its disks', () => {
    const diskLimits = { iops: 500, miBPerSecond: 20 }
    const xml = readXml(domainXml(spec(arch, { diskLimits }), { ...options, isoPath: '/pool/iso-cimage.iso' }).xml)
    const names = (disk: Element) => [disk.attribute('target/dev'), disk.find('iotune/group_name')?.text]
    expect(xml.all('devices/disk').map(names)).toEqual([
      ['vda', 'machine'],
      ['vdb', undefined],
      ['sda', 'machine'],
    ])
    expect([...limitsByDisk(xml)]).toEqual([
      ['vda', diskLimits],
      ['sda', diskLimits],
    ])
    expect(limitsByDisk(readXml(domainXml(spec(arch), options).xml)).size).toBe(1)
  })

  test('is paused, not failed, by a write that finds the pool full', () => {
    const [driver] = readXml(domainXml(spec(arch), options).xml).all('devices/disk/driver')
    expect(driver?.attributes).toMatchObject({ error_policy: 'enospace', rerror_policy: 'report' })
  })

  test('does not depend on text chosen by the customer', () => {
    const hostile = `'"><disk type='file'><source file='/etc/shadow'/></disk>]]>&lt;\0\n#cloud-config`
    const seed = { hostname: hostile, user: hostile, sshKeys: [hostile], passwordHash: hostile }
    const written = (changes: Partial<MachineSpec>) => {
      const made = spec(arch, changes)
      return domainXml({ ...made, template: { ...made.template, ...(changes.seed && { slug: hostile, checksum: hostile }) } }, options).xml
    }
    expect(written({ seed })).toBe(written({}))
  })

  test('uses KVM only where it works', () => {
    expect(readXml(domainXml(spec(arch), options).xml).attributes['type']).toBe('qemu')
    const fast = readXml(domainXml(spec(arch), { ...options, acceleration: 'kvm' }).xml)
    expect(fast.attributes['type']).toBe('kvm')
    expect(fast.attribute('cpu/mode')).toMatch(/^host-/)
  })

  test('has free PCI slots for interfaces attached later', () => {
    const ports = readXml(domainXml(spec(arch), options).xml).all('devices/controller')
    expect(ports.filter((port) => port.attributes['model'] === 'pcie-root-port').length).toBeGreaterThanOrEqual(10)
  })
})

test('x86_64 has BIOS, UEFI or secure boot, and a TPM where its template says so; aarch64 has UEFI', () => {
  const machine = (arch: Arch, change: Partial<MachineSpec['template']> = {}) => {
    const made = spec(arch)
    const xml = readXml(domainXml({ ...made, template: { ...made.template, ...change } }, options).xml)
    return {
      firmware: xml.attribute('os/firmware') ?? 'bios',
      signatures: xml.all('os/firmware/feature').map(({ attributes }) => `${attributes['name']}=${attributes['enabled']}`),
      smm: xml.attribute('features/smm/state') ?? 'off',
      tpm: xml.attribute('devices/tpm/model') ?? 'none',
    }
  }
  const uefi = { firmware: 'efi', signatures: ['secure-boot=no'], smm: 'off', tpm: 'none' }
  expect(machine('x86_64')).toEqual({ firmware: 'bios', signatures: [], smm: 'off', tpm: 'none' })
  expect(machine('x86_64', { firmware: 'bios', tpm: true })).toEqual({ firmware: 'bios', signatures: [], smm: 'off', tpm: 'tpm-crb' })
  expect(machine('x86_64', { firmware: 'uefi' })).toEqual(uefi)
  expect(machine('x86_64', { firmware: 'secure-boot', tpm: true })).toEqual({
    firmware: 'efi',
    signatures: ['secure-boot=yes', 'enrolled-keys=yes'],
    smm: 'on',
    tpm: 'tpm-crb',
  })
  expect(machine('aarch64')).toEqual(uefi)
  expect(machine('aarch64', { firmware: null, tpm: true })).toEqual({ ...uefi, tpm: 'tpm-tis' })
})

test('ACPI sleep is disabled where the machine type has it', () => {
  const offers = (arch: Arch) => readXml(domainXml(spec(arch), options).xml).find('pm')
  expect(offers('x86_64')?.children.map(({ name, attributes }) => [name, attributes['enabled']])).toEqual([
    ['suspend-to-mem', 'no'],
    ['suspend-to-disk', 'no'],
  ])
  expect(offers('aarch64')).toBeUndefined()
})

test('an invalid id never becomes a name', () => {
  expect(() => domainXml(spec('x86_64', { vmId: '../../etc' }), options)).toThrow('is not an id')
})
