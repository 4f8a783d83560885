// A certificate that was stolen is revoked: libvirtd refuses the control plane's, and the control plane that of a host.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Host } from '@berth/libvirt'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { describeIf } from '../../../libvirt/test/describe-if.ts'
import { openAuthorities, type TestAuthorities } from '../../test/authorities.ts'
import { done, failure, missingForMachine, openBareMachine, type BareMachine } from '../../test/bare-machine.ts'
import { testDatabase } from '../../test/harness.ts'
import { berthd, berthdJson, type Settings } from '../../test/processes.ts'
import { endpointOf } from '../hypervisor/libvirt/core/endpoint.ts'
import { directAccess } from '../hypervisor/local-access.ts'
import { issueBundle } from './issue-bundle.ts'

describeIf(missingForMachine())('a revoked certificate', { timeout: 180_000 }, () => {
  let folder: string
  let settings: Settings
  let machine: BareMachine
  const address = (): string => machine.sandbox.address
  const uri = (): string => `qemu+tls://${address()}/system`
  let authorities: TestAuthorities

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'berth-revocation-'))
    settings = { BERTH_DATABASE_URL: await testDatabase(), BERTH_DATA_DIR: folder }
    authorities = await openAuthorities(settings['BERTH_DATABASE_URL']!, folder)
    machine = await openBareMachine()
    await berthdJson(settings, 'host', 'remove', 'local', '--yes')
  }, 120_000)
  afterAll(async () => {
    await machine?.close()
    await authorities?.close()
    await rm(folder, { recursive: true, force: true })
  })

  const prepare = async (): Promise<string[]> => {
    const bundle = join(folder, 'bundle')
    await issueBundle(authorities, address(), { regionId: 'cregion', inUse: [], controllers: null }, bundle)
    const report = await machine.prepare('--certificate', bundle)
    expect(failure(report)).toBeUndefined()
    return done(report)
  }
  /** `answers`, or why it does not. */
  const ask = async (access = authorities.access): Promise<string> => {
    const host = new Host({ endpoint: endpointOf(uri(), access) })
    try {
      await host.whenUp(5_000)
      await host.connect.getLibVersion()
      return 'answers'
    } catch (error) {
      return (error as Error).message
    } finally {
      await host.close()
    }
  }

  test('of the control plane is refused by a host once it has the list, and its successor is not', async () => {
    await prepare()
    const files = await authorities.access.readCertificates(['ca.pem', 'ca-crl.pem', 'client.pem', 'client.key'])
    const stolen = directAccess(() => Promise.resolve(files))
    expect(await ask(stolen)).toBe('answers')
    expect(await berthdJson(settings, 'certificate', 'revoke', 'control-plane', '--yes')).toMatchObject({ revoked: 2 })
    expect([await ask(stolen), await ask()]).toEqual(['answers', 'answers'])
    expect(await prepare()).toEqual(['certificate', 'libvirt'])
    expect([await ask(stolen), await ask()]).toEqual([expect.stringContaining('does not accept our certificate'), 'answers'])
  })

  test('of a host that was removed is refused by the control plane, until the host has a new one', async () => {
    const add = ['host', 'add', uri(), '--name', 'rack1', '--region', 'fra1', '--network-controller', 'unix:/run/ovn']
    await berthdJson(settings, ...add)
    const removed = await berthd(settings, 'host', 'remove', 'rack1', '--yes')
    expect(removed.stdout).toContain('Host rack1 is removed. Its certificates are revoked.')
    expect(await ask()).toContain('certificate revoked')
    const refused = await berthd(settings, ...add)
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('is revoked')])
    await prepare()
    await berthdJson(settings, ...add)
  })

  test('is none where nothing is recorded', async () => {
    const unknown = await berthd(settings, 'certificate', 'revoke', '10.98.1.1', '--yes')
    expect([unknown.code, unknown.stderr]).toEqual([2, expect.stringContaining('has no certificate')])
  })
})
