// How long until a changed rule holds, by packets? A datagram for a closed port of each VM goes out every few milliseconds; the clock runs from
// PUT /firewalls/{id}/rules, which opens the port, until one has arrived at the interface of every VM. Beside it the same by bare `ovn-nbctl`,
// in turns: for one VM, and for many at once. And until the API says that it is applied, and how many applies a burst of 20 changes costs.
// On OVN and libvirtd in a sandbox. It takes root.
//   npm run bench:firewall -- [--rounds 20] [--vms 20]
import { parseArgs } from 'node:util'
import { sleep } from '../server/src/kernel/clock.ts'
import { openStage, withProduct, type Product } from './boot-product.ts'
import { bareRule } from './firewall-baseline.ts'
import { openProbe, type Probe } from './firewall-probe.ts'
import { missed, percentile, printHead, printLimit, printRatio } from './vms-table.ts'

const [P95_GOAL_MS, RATIO_GOAL] = [250, 5]
/** Asking more often would slow down what is measured. */
const POLL_MS = 20
const BURST = 20
/** Only this is opened and closed; the others are there so that a firewall is as long as usual ones. */
const PORT = 9_999
const OTHER_RULES = Array.from({ length: 19 }, (_, i) => ({ direction: 'IN', action: 'ACCEPT', protocol: 'TCP', port: String(20_000 + i) }))
const OPENED = [{ direction: 'IN', action: 'ACCEPT', protocol: 'UDP', port: String(PORT) }, ...OTHER_RULES]
const { values } = parseArgs({ options: { rounds: { type: 'string', default: '20' }, vms: { type: 'string', default: '20' } } })
const [ROUNDS, VMS] = [Number(values.rounds), Number(values.vms)]

await using stack = new AsyncDisposableStack()
const stage = await openStage(stack)
const { host } = stage

interface Side {
  vmIds: string[]
  firewallId: string
  probe: Probe
  ask: Product['ask']
  set(rules: object[]): Promise<void>
  applied(): Promise<void>
}

/** VMs of a customer with a firewall bound to all of them. */
async function sideOf({ ask, create }: Product, vms: number): Promise<Side> {
  const vmIds: string[] = []
  while (vmIds.length < vms) vmIds.push((await create()).vmId)
  const { id } = await ask<{ id: string }>('POST', '/firewalls', { name: 'web' })
  for (const vmId of vmIds) await ask('POST', `/firewalls/${id}/bindings`, { vmId })
  const set = (rules: object[]): Promise<void> => ask('PUT', `/firewalls/${id}/rules`, { rules })
  const applied = async (): Promise<void> => {
    while (!(await ask<{ applied: boolean }>('GET', `/firewalls/${id}`)).applied) await sleep(POLL_MS)
  }
  await set(OTHER_RULES)
  await applied()
  const probe = await openProbe(host.sandbox, await Promise.all(vmIds.map((vmId) => targetOf(ask, vmId))), PORT)
  return { vmIds, firewallId: id, probe, ask, set, applied }
}

async function targetOf(ask: Product['ask'], vmId: string): Promise<{ address: string; tap: string }> {
  const { ipAddress } = await ask<{ ipAddress: string }>('GET', `/vms/${vmId}`)
  const [tap] = /vnet\d+/.exec(await host.sandbox.virsh('domiflist', `berth-${vmId}`))!
  return { address: ipAddress, tap }
}

/** Milliseconds until datagrams arrive everywhere. */
async function timed(probe: Probe, open: () => Promise<unknown>): Promise<number> {
  await probe.arm()
  const begun = process.hrtime.bigint()
  const [last] = await Promise.all([probe.opened(), open()])
  return Number(last - begun) / 1e6
}

interface Rounds {
  ours: number[]
  applied: number[]
  floor: number[]
}

async function takeTurns(side: Side): Promise<Rounds> {
  const bare = await bareRule(host.sandbox, side.vmIds, PORT)
  const rounds: Rounds = { ours: [], applied: [], floor: [] }
  for (let round = 0; round < ROUNDS; round++) {
    rounds.floor.push(await timed(side.probe, bare.open))
    await bare.close()
    let begun = 0
    const opened = timed(side.probe, () => ((begun = performance.now()), side.set(OPENED)))
    const applied = opened.then(side.applied).then(() => performance.now() - begun)
    rounds.ours.push(await opened)
    rounds.applied.push(await applied)
    await side.set(OTHER_RULES)
    await side.applied()
  }
  await side.probe.close()
  return rounds
}

/** How often the filter was applied for 20 changes one right after the other. */
async function burst({ ask, firewallId, set }: Side): Promise<number> {
  const state = async (): Promise<{ applied: boolean; appliedAt: string }> =>
    (await ask<{ applied: boolean; appliedAt: string }[]>('GET', `/firewalls/${firewallId}/bindings`))[0]!
  await set([])
  while (!(await state()).applied) await sleep(POLL_MS)
  const seen = new Set([(await state()).appliedAt])
  for (let i = 0; i < BURST; i++)
    await ask('POST', `/firewalls/${firewallId}/rules`, { direction: 'IN', action: 'ACCEPT', protocol: 'TCP', port: String(30_000 + i) })
  for (let now = await state(); ; now = await state()) {
    seen.add(now.appliedAt)
    if (now.applied) return seen.size - 1
    await sleep(POLL_MS)
  }
}

await withProduct(stage, async (product, another) => {
  const one = await sideOf(product, 1)
  const crowd = await sideOf(another, VMS)
  printHead()
  for (const [what, side] of Object.entries({ 'one VM': one, [`${VMS} VMs`]: crowd })) {
    const { ours, applied, floor } = await takeTurns(side)
    printRatio(`a rule of ${what} in force, p50`, { ours, floor, unit: 'ms' }, { most: RATIO_GOAL })
    printLimit(`a rule of ${what} in force, p95`, percentile(ours, 0.95), P95_GOAL_MS, 'ms')
    printRatio(`… and shown as applied, p50`, { ours: applied, floor, unit: 'ms' })
  }
  const applies: number[] = []
  for (let round = 0; round < 3; round++) applies.push(await burst(one))
  console.log(`applies of a burst of ${BURST} changes, at most: ${Math.max(...applies)}`)
})
if (missed() > 0) process.exitCode = 1
