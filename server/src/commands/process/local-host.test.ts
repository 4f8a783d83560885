import { describe, expect, test } from 'vitest'
import { decideHypervisor, type LocalHost } from './local-host.ts'

const none = null
const empty = (driver: LocalHost['driver']): LocalHost => ({ driver, inUse: false })
const used = (driver: LocalHost['driver']): LocalHost => ({ driver, inUse: true })
const noRoot = { why: 'real VMs take root', fix: 'sudo npm start' }

describe('what runs the VMs of this machine', () => {
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
  ] as const)('%s with %j here and %j in the way: %s', (setting, local, cannot, kind, replace) => {
    expect(decideHypervisor(setting, local, cannot)).toMatchObject({ kind, replace })
  })

  test.each([
    ['simulated', used('libvirt'), null, 'would lose sight of them'],
    ['libvirt', used('simulated'), null, 'libvirt does not have them'],
    ['libvirt', none, noRoot, 'real VMs take root. To mend it: sudo npm start'],
    ['auto', empty('libvirt'), noRoot, 'real VMs take root'],
  ] as const)('is refused as %s with %j here', (setting, local, cannot, why) => {
    expect(() => decideHypervisor(setting, local, cannot)).toThrow(why)
  })

  test('says why VMs are not real', () => {
    expect(decideHypervisor('auto', none, noRoot)).toMatchObject(noRoot)
    expect(decideHypervisor('auto', used('simulated'), null).why).toBe('this data began with simulated VMs')
    expect(decideHypervisor('simulated', none, null).why).toBeNull()
  })
})
