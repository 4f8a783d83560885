// Two sandboxed hosts of one region, with a network controller on a third machine, all with certificates like remote machines; for drivers
// without the product.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Sandbox } from '../../libvirt/test/sandboxed-libvirtd.ts'
import { Sandboxes } from '../../libvirt/test/sandbox-fleet.ts'
import { issueBundle, issueControllerBundle } from '../src/host-setup/issue-bundle.ts'
import type { MigrationFixture } from '../src/hypervisor/conformance/migration.ts'
import { openRbdPool } from '../src/hypervisor/rbd/pool.ts'
import { openAuthorities } from './authorities.ts'
import { bareMachine } from './bare-machine.ts'
import { startCeph } from './ceph.ts'
import { testDatabase } from './harness.ts'
import { driverFixture } from './libvirt-driver-fixture.ts'
import type { LibvirtHost } from './libvirt-host.ts'
import { requireDone, tunnelBridge } from './tls-hosts.ts'

const REGION = 'here'

/** Their pools are at different paths, so that what a machine is defined with differs between them. `storage`: where disks are. */
export async function libvirtMigrationFixture(
  storage: 'host' | 'ceph' = 'host',
): Promise<MigrationFixture & { sandboxes: { here: Sandbox; there: Sandbox } }> {
  const dataDir = await mkdtemp(join(tmpdir(), 'berth-migration-'))
  const authorities = await openAuthorities(await testDatabase(), dataDir)
  const sandboxes = await Sandboxes.open()
  const controller = await sandboxes.add()
  const bundle = join(controller.folder, 'bundle')
  await issueControllerBundle(authorities, controller.address, [controller.address], bundle)
  requireDone(await (await bareMachine(controller)).berthd('network-controller', 'prepare', '--certificate', bundle))

  const joinRegion = async (sandbox: Sandbox, poolPath: string): Promise<LibvirtHost> => {
    const file = join(sandbox.folder, 'bundle')
    const order = { regionId: REGION, inUse: ['10.77.0.0/16'], controllers: [controller.address] }
    await issueBundle(authorities, sandbox.address, order, file)
    const { prepare, shell } = await bareMachine(sandbox)
    requireDone(await prepare('--certificate', file, '--pool-path', poolPath))
    await shell(tunnelBridge(sandbox.address))
    const name = (await sandbox.inside('hostname')).trim()
    const uri = `qemu+tls://${sandbox.address}/system`
    const networkController = `ssl:${controller.address}`
    return { sandboxes, sandbox, name, uri, networkController, gateway: '10.77.0.1', close: async () => {} }
  }
  const left = await joinRegion(await sandboxes.add(), '/var/lib/libvirt/images/berth')
  const right = await joinRegion(await sandboxes.add(), '/var/lib/libvirt/images/other')
  const cluster = storage === 'ceph' ? await startCeph({ address: controller.address.replace(/\d+$/, '1'), osds: 1 }) : undefined
  const backend = await cluster?.addPool()
  const pool = backend && openRbdPool(backend, join(dataDir, 'ceph'))
  const options = {
    access: authorities.access,
    ...(pool && { storage: { poolsOf: () => Promise.resolve([pool]) }, storageId: backend.id }),
  }
  const [here, there] = [await driverFixture(left, options), await driverFixture(right, options)]
  return {
    here,
    there,
    uris: { here: left.uri, there: right.uri },
    sandboxes: { here: left.sandbox, there: right.sandbox },
    close: async () => {
      await Promise.all([here.close(), there.close()])
      await sandboxes.close()
      await cluster?.close()
      await authorities.close()
      await rm(dataDir, { recursive: true, force: true })
    },
  }
}
