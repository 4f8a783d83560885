import { describe, expect, test } from 'vitest'
import { sellableCapacity } from '../hypervisor/sellable-capacity.ts'
import { archIn, domainTypesIn, type Facts } from './facts.ts'
import { clockFinding, unreachable } from './verify.ts'

const capabilities = `<capabilities><host><uuid>x</uuid><cpu><arch>aarch64</arch><model/></cpu></host>
<guest><os_type>hvm</os_type><arch name='x86_64'><domain type='qemu'/></arch></guest>
<guest><os_type>hvm</os_type><arch name='aarch64'><domain type='qemu'/><domain type='kvm'/></arch></guest></capabilities>`

const known = { hostname: 'h', libvirt: '9.0', qemu: '7.2', arch: 'x86_64', domainTypes: ['qemu'], guestTypes: ['x86_64'] }
const facts = (cpus: number, memoryMiB: number, diskFreeGiB: number | null, diskTakenGiB = 0): Facts => ({
  ...known,
  cpus,
  memoryMiB,
  diskFreeGiB,
  diskTakenGiB,
})

describe('host facts', () => {
  test('are read from the capabilities XML', () => {
    expect(archIn(capabilities)).toBe('aarch64')
    expect(domainTypesIn(capabilities, 'aarch64')).toEqual(['qemu', 'kvm'])
    expect(domainTypesIn(capabilities, 'x86_64')).toEqual(['qemu'])
    expect(domainTypesIn(capabilities, 'riscv64')).toEqual([])
  })

  test.each([
    [facts(8, 32_768, 500), { vcpu: 8, ramMiB: 29_491, diskGiB: 450 }],
    [facts(2, 4_096, 100, 20), { vcpu: 2, ramMiB: 3_072, diskGiB: 108 }],
    [facts(1, 512, null), { vcpu: 1, ramMiB: 256, diskGiB: 1 }],
  ])('reserve a share for the host itself: %j', (has, sells) => {
    expect(sellableCapacity(has)).toEqual(sells)
  })
})

describe('a host that is verified', () => {
  test.each([
    [1_000, 'ok', 'agrees'],
    [2_900, 'ok', 'agrees'],
    [6_000, 'warning', '3.1 s apart'],
    [-90_000, 'failure', '91.0 s apart'],
  ])('compares its clock: %d', (reads, status, text) => {
    expect(clockFinding(reads, 1_000, 2_900)).toMatchObject({ status, message: expect.stringContaining(text) })
  })

  test.each([
    ['connect ECONNREFUSED 10.0.0.5:16514', 'does not listen'],
    ['the control plane has no certificates yet', 'host certificate --address'],
    ["Hostname/IP does not match certificate's altnames: IP: 10.0.0.6 is not in the cert's list", 'another address'],
    ['certificate has expired', 'renew it'],
    ['certificate revoked', 'issue another one'],
    ['libvirtd at 10.0.0.5:16514 does not accept our certificate', 'trusts another control plane'],
    ['self-signed certificate in certificate chain', 'not of this control plane'],
    ['connect EACCES /run/libvirt/libvirt-sock', 'sudo npx berthd host prepare'],
  ])('has a fix for "%s"', (message, fix) => {
    expect(unreachable('10.0.0.5:16514', new Error(message)).fix).toContain(fix)
    expect(unreachable('10.0.0.5:16514', new Error('cannot reach', { cause: new Error(message) })).fix).toContain(fix)
  })
})
