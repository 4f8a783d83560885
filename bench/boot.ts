// How much longer than bare virsh does a customer wait for a VM? POST /vms until the API says that its guest answers, beside virsh that
// defines and starts the same image in the same shape, until its agent answers. On a libvirtd in a sandbox, in turns, medians. It takes root.
// With --replicated the disk is in a pool of Ceph, whose OSDs keep it in memory; the floor begins with a bare `rbd clone` then.
//   npm run bench:boot -- [--rounds 5] [--replicated]
import { parseArgs } from 'node:util'
import { bareLike, type Bare } from './boot-baseline.ts'
import { watchGuests, type Watch } from './boot-guest.ts'
import { openCeph, openStage, withProduct, type Created, type Product } from './boot-product.ts'
import { median } from './vms-table.ts'

const [GOAL_MS, STRETCH_MS] = [1_000, 400]
const WIDTH = 32
const { values } = parseArgs({ options: { rounds: { type: 'string', default: '5' }, replicated: { type: 'boolean', default: false } } })

await using stack = new AsyncDisposableStack()
const stage = await openStage(stack)
const { host } = stage
const ceph = values.replicated ? await openCeph(stack, host) : undefined
const watch = await watchGuests(host.sandboxes.unix(host.sandbox))
stack.defer(watch.close)

await withProduct({ ...stage, ceph }, async (product) => {
  // The first carries the template to the host and finds out how guests run there.
  const { vmId } = await product.create()
  const bare = await bareLike(vmId, host.sandbox, ceph)
  await product.remove(vmId)
  print(await takeTurns(product, bare, watch))
})

interface Side {
  totalMs: number
  guestMs: number
}

interface Pair {
  ours: Side & Created
  bare: Side
}

async function takeTurns(product: Product, bare: Bare, { guestMs }: Watch): Promise<Pair[]> {
  const pairs: Pair[] = []
  for (let round = 0; round < Number(values.rounds); round++) {
    const floor = { totalMs: await bare.boot(), guestMs: await guestMs() }
    const ours = { ...(await product.create()), guestMs: await guestMs() }
    pairs.push({ ours, bare: floor })
    await product.remove(ours.vmId)
  }
  return pairs
}

/** Differences are medians of the pairs', which were measured one right after the other. Judged is the whole wait, as a customer
 *  feels it; the parts say whether it is the guest or what is done around it. */
function print(pairs: Pair[]): void {
  const middle = (what: (pair: Pair) => number): number => median(pairs.map(what))
  const aroundMs = ({ totalMs, guestMs }: Side): number => totalMs - guestMs
  const line = (what: string, part: (side: Side) => number): void => {
    const sides = (['ours', 'bare'] as const).map((side) => middle((pair) => part(pair[side])))
    show(
      what,
      ...sides,
      middle(({ ours, bare }) => part(ours) - part(bare)),
    )
  }
  console.log(`${''.padEnd(WIDTH)}     value      floor       more`)
  line('POST /vms → reachable', ({ totalMs }) => totalMs)
  line('  the guest itself', ({ guestMs }) => guestMs)
  line('  all around it', aroundMs)
  const stepMs = (name: string): number => middle(({ ours }) => ours.stepsMs[name]!)
  for (const name of Object.keys(pairs[0]!.ours.stepsMs)) show(`    step ${name}`, stepMs(name))
  const moreMs = middle(({ ours, bare }) => ours.totalMs - bare.totalMs)
  const verdict = moreMs > GOAL_MS ? 'FAIL' : moreMs > STRETCH_MS ? 'pass' : 'pass, stretch too'
  console.log(`${seconds(moreMs)} more than bare: goal ≤ ${seconds(GOAL_MS)}, stretch ≤ ${seconds(STRETCH_MS)}: ${verdict}`)
  if (moreMs > GOAL_MS) process.exitCode = 1
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(2)} s`
}

function show(what: string, ...columns: number[]): void {
  console.log([what.padEnd(WIDTH), ...columns.map((each) => seconds(each).padStart(10))].join(' '))
}
