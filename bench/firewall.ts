// How long until a change of 20 rules holds? PUT /firewalls/{id}/rules until the API says that it is applied, beside bare
// `virsh nwfilter-define` of filters of the same size, in turns: for one VM, for eight, and for one while eight of another customer change.
// And how many applies a burst of 20 changes to one VM costs. On a libvirtd in a sandbox, with VMs whose filters are bound. It takes root.
//   npm run bench:firewall -- [--rounds 3] [--vms 8]
import { parseArgs } from 'node:util'
import { sleep } from '../server/src/kernel/clock.ts'
import { openStage, withProduct, type Product } from './boot-product.ts'
import { bareChange } from './firewall-baseline.ts'
import { missed, printHead, printLimit, printRatio } from './vms-table.ts'

const RULES = 20
const GOAL = 1.2
/** Asking more often would slow down what is measured. */
const POLL_MS = 40
const { values } = parseArgs({ options: { rounds: { type: 'string', default: '3' }, vms: { type: 'string', default: '8' } } })
const [ROUNDS, VMS] = [Number(values.rounds), Number(values.vms)]

await using stack = new AsyncDisposableStack()
const { folder, host, image } = await openStage(stack)

let changes = 0
/** Never twice the same. */
const someRules = (): object[] => {
  const first = 20_000 + (++changes % 400) * RULES
  return Array.from({ length: RULES }, (_, i) => ({ direction: 'IN', action: 'ACCEPT', protocol: 'TCP', port: String(first + i) }))
}

interface Side {
  vmIds: string[]
  firewallId: string
  /** Milliseconds until it is applied to all its VMs. */
  change(rules?: object[]): Promise<number>
  ask: Product['ask']
}

/** VMs of a customer with a firewall bound to all of them. */
async function sideOf({ ask, create }: Product, vms: number): Promise<Side> {
  const vmIds: string[] = []
  while (vmIds.length < vms) vmIds.push((await create()).vmId)
  const { id } = await ask<{ id: string }>('POST', '/firewalls', { name: 'web' })
  for (const vmId of vmIds) await ask('POST', `/firewalls/${id}/bindings`, { vmId })
  const applied = async (): Promise<void> => {
    while (!(await ask<{ applied: boolean }>('GET', `/firewalls/${id}`)).applied) await sleep(POLL_MS)
  }
  await applied()
  const change = async (rules = someRules()): Promise<number> => {
    const begun = performance.now()
    await ask('PUT', `/firewalls/${id}/rules`, { rules })
    await applied()
    return performance.now() - begun
  }
  return { vmIds, firewallId: id, change, ask }
}

const bareOf = ({ vmIds }: Side): Promise<{ apply(): Promise<number> }[]> =>
  Promise.all(vmIds.map((vmId) => bareChange(vmId, host.sandbox)))

async function bareAll(side: Side): Promise<number> {
  const all = await bareOf(side)
  const begun = performance.now()
  for (const each of all) await each.apply()
  return performance.now() - begun
}

/** The others are on their way when the one comes. */
async function amid(others: () => Promise<unknown>, one: () => Promise<number>): Promise<number> {
  const under = others()
  await sleep(500)
  const tookMs = await one()
  await under
  return tookMs
}

async function bareAmid(one: Side, crowd: Side): Promise<number> {
  const [[mine], all] = [await bareOf(one), await bareOf(crowd)]
  return amid(
    () => Promise.all(all.map((each) => each.apply())),
    () => mine!.apply(),
  )
}

/** How often the filter was applied for 20 changes one right after the other. */
async function burst({ ask, firewallId }: Side): Promise<number> {
  const state = async (): Promise<{ applied: boolean; appliedAt: string }> =>
    (await ask<{ applied: boolean; appliedAt: string }[]>('GET', `/firewalls/${firewallId}/bindings`))[0]!
  await ask('PUT', `/firewalls/${firewallId}/rules`, { rules: [] })
  while (!(await state()).applied) await sleep(POLL_MS)
  const seen = new Set([(await state()).appliedAt])
  for (const rule of someRules()) await ask('POST', `/firewalls/${firewallId}/rules`, rule)
  for (let now = await state(); ; now = await state()) {
    seen.add(now.appliedAt)
    if (now.applied) return seen.size - 1
    await sleep(POLL_MS)
  }
}

await withProduct(folder, host, image, async (product, another) => {
  const one = await sideOf(product, 1)
  const crowd = await sideOf(another, VMS)
  const kinds = {
    'one VM': { ours: () => one.change(), bare: () => bareAll(one), goal: { most: GOAL } },
    [`${VMS} VMs`]: { ours: () => crowd.change(), bare: () => bareAll(crowd), goal: undefined },
    [`one VM while ${VMS} others change`]: {
      ours: () => amid(() => crowd.change(), one.change),
      bare: () => bareAmid(one, crowd),
      goal: undefined,
    },
  }
  printHead()
  for (const [what, { ours, bare, goal }] of Object.entries(kinds)) {
    const took = { ours: [] as number[], floor: [] as number[], unit: 'ms' }
    for (let round = 0; round < ROUNDS; round++) {
      await ours() // both begin from the same rules
      took.floor.push(await bare())
      took.ours.push(await ours())
    }
    printRatio(`${RULES} rules to ${what}`, took, goal)
  }
  const applies: number[] = []
  for (let round = 0; round < ROUNDS; round++) applies.push(await burst(one))
  printLimit(`applies of a burst of ${RULES} changes`, Math.max(...applies), 1, '')
})
if (missed() > 0) process.exitCode = 1
