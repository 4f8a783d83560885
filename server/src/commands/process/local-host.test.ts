import { describe, expect, test } from 'vitest'
import { decideHypervisor, type LocalHost } from './local-host.ts'

const none = null
const empty = (driver: LocalHost['driver']): LocalHost => ({ driver, inUse: false })
const used = (driver: LocalHost['driver']): LocalHost => ({ driver, inUse: true })
const noRoot = { why: 'real VMs need root', fix: 'sudo npm start' }

describe('decideHypervisor', () => {
  test.each([
    ['auto', none, null, 'libvirt', false],
    ['auto', none, noRoot, 'simulated', false],
    ['auto', empty('simulated'), null, 'libvirt', true],
    ['auto', empty('simulated'), noRoot, 'simulated', false],
    ['auto', used('simulated'), null, 'simulated', false],
    ['auto', used('libvirt'), null, 'libvirt', false],
    ['libvirt', none, null, 'libvirt', false],
    ['libvirt', empty('simulated'), null, 'libvirt', true],
    ['libvirt', used('libvirt'), null, 'libvirt', false],
    ['simulated', none, null, 'simulated', false],
    ['simulated', used('simulated'), null, 'simulated', false],
    ['simulated', empty('libvirt'), null, 'simulated', true],
  ] as const)('BERTH_HYPERVISOR=%s with host %j and obstacle %j gives %s', (setting, local, cannot, kind, replace) => {
    expect(decideHypervisor(setting, local, cannot)).toMatchObject({ kind, replace })
  })

  test.each([
    ['simulated', used('libvirt'), null, 'would lose track of them'],
    ['libvirt', used('simulated'), null, 'libvirt does not have them'],
    ['libvirt', none, noRoot, 'real VMs need root. To fix it: sudo npm start'],
    ['auto', empty('libvirt'), noRoot, 'real VMs need root'],
  ] as const)('throws for BERTH_HYPERVISOR=%s with host %j', (setting, local, cannot, why) => {
    expect(() => decideHypervisor(setting, local, cannot)).toThrow(why)
  })

  test('gives the reason for simulated VMs', () => {
    expect(decideHypervisor('auto', none, noRoot)).toMatchObject(noRoot)
    expect(decideHypervisor('auto', used('simulated'), null).why).toBe('this data folder has simulated VMs')
    expect(decideHypervisor('simulated', none, null).why).toBeNull()
  })
})
