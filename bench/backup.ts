// How much longer than bare libvirt does a backup take? A full one of a disk of 1 GiB and an incremental one of 100 MiB that changed, by
// our driver, beside bare `virsh backup-begin` and `qemu-img convert` of the same running guest. In turns, medians. It takes root.
//   npm run bench:backup -- [--rounds 5]
import { parseArgs } from 'node:util'
import { missingForLibvirtHost } from '../server/test/libvirt-host.ts'
import { newId } from '../server/src/kernel/ids.ts'
import { openProof, soon } from '../server/test/libvirt-proof.ts'
import { GuestShell } from '../server/test/guest-shell.ts'
import { bareBackups } from './backup-baseline.ts'
import { missed, printHead, printRatio } from './vms-table.ts'

const GOAL = { most: 1.2 }
const MIB = 2 ** 20
const POOL_FOLDER = '/var/lib/libvirt/images/berth'
const { values } = parseArgs({ options: { rounds: { type: 'string', default: '5' } } })

if (missingForLibvirtHost()) throw new Error('This takes root, libvirt, QEMU and OVN; npm run doctor says what is missing')
const proof = await openProof()
await using stack = new AsyncDisposableStack()
stack.defer(proof.close)
const { driver, host } = proof
const spec = proof.spec()
const disk = `${POOL_FOLDER}/vm-${spec.vmId}-1.qcow2`
const domain = `berth-${spec.vmId}`

await driver.ensureDisk(spec, { from: 'template' }, soon())
await host.sandbox.inside('qemu-io', '-c', 'write -P 170 160M 864M', disk)
await proof.start(spec)
await driver.ensureReady(spec.vmId, { timeoutMs: 120_000 }, soon())
const bare = bareBackups(domain, host.sandbox)

const ours = async (backupId: string, parentId: string | null): Promise<number> => {
  const begun = performance.now()
  const made = await driver.ensureBackup(spec.vmId, { backupId, parentId }, soon())
  const tookMs = performance.now() - begun
  if (made.parentId !== parentId || made.sizeBytes < 100 * MIB)
    throw new Error(`This is not what was to be measured: ${JSON.stringify(made)}`)
  return tookMs
}

const shell = new GuestShell(host.sandboxes.unix(host.sandbox), 120_000)
stack.defer(() => shell.close())
const change = async (): Promise<void> => {
  const { exitCode } = await shell.run(spec.vmId, 'dd if=/dev/urandom of=/root/changing bs=1M count=100 conv=fsync,notrunc')
  if (exitCode !== 0) throw new Error(`The guest could not write: ${exitCode}`)
}

interface Round {
  full: { ours: number; bare: number; convert: number }
  incremental: { ours: number; bare: number }
}

async function takeTurn(round: number): Promise<Round> {
  const [parentId, backupId] = [newId(), newId()]
  const full = { bare: await bare.begin(`full-${round}`), ours: await ours(parentId, null), convert: await bare.convert(disk) }
  await change()
  const incremental = { bare: await bare.begin(`changed-${round}`, `full-${round}`), ours: await ours(backupId, parentId) }
  for (const id of [backupId, parentId]) await driver.ensureNoBackup(spec.vmId, id, soon())
  await bare.forget([`full-${round}`, `changed-${round}`])
  return { full, incremental }
}

const rounds: Round[] = []
for (let round = 0; round <= Number(values.rounds); round++) rounds.push(await takeTurn(round))
rounds.shift() // the first finds cold caches
const each = (what: (round: Round) => number): number[] => rounds.map(what)
printHead()
const full = each(({ full: { ours: ms } }) => ms)
printRatio('full, 1 GiB, beside virsh backup-begin', { ours: full, floor: each((one) => one.full.bare), unit: 'ms' }, GOAL)
printRatio('full, 1 GiB, beside qemu-img convert', { ours: full, floor: each((one) => one.full.convert), unit: 'ms' })
const changed = each((one) => one.incremental.ours)
printRatio('100 MiB changed, beside virsh backup-begin', { ours: changed, floor: each((one) => one.incremental.bare), unit: 'ms' }, GOAL)
if (missed() > 0) process.exitCode = 1
