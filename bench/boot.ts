// How much longer than bare virsh does a customer wait for a VM? POST /vms until the API says that its guest answers, beside virsh that
// defines and starts the same image in the same shape, until its agent answers. On a libvirtd in a box, in turns, medians. It takes root.
//   npm run bench:boot -- [--rounds 5]
import { parseArgs } from 'node:util'
import { canBox } from '../libvirt/test/command.ts'
import { openLibvirtHost } from '../server/test/libvirt-host.ts'
import { scratchFolder } from '../server/test/scratch-folder.ts'
import { tinyImage } from '../server/test/tiny-image.ts'
import { bareLike, type Bare, type Booted } from './boot-bare.ts'
import { withProduct, type Created, type Product } from './boot-product.ts'
import { median } from './vms-table.ts'

const [GOAL_MS, STRETCH_MS] = [1_000, 400]
const { values } = parseArgs({ options: { rounds: { type: 'string', default: '5' } } })

if (!canBox()) throw new Error('This takes root, libvirt and QEMU; npm run doctor says what is missing')
await using stack = new AsyncDisposableStack()
const folder = await scratchFolder()
stack.defer(folder.remove)
const image = await tinyImage()
const host = await openLibvirtHost()
stack.defer(host.close)

await withProduct(folder.path, host, image, async (product) => {
  // The first carries the template to the host and finds out how guests run there.
  const { vmId } = await product.create()
  const bare = await bareLike(vmId, host.box)
  await product.remove(vmId)
  print(await takeTurns(product, bare, Number(values.rounds)), bare.bindMs)
})

interface Pair {
  ours: Created
  floor: Booted
}

async function takeTurns(product: Product, bare: Bare, rounds: number): Promise<Pair[]> {
  const pairs: Pair[] = []
  for (let round = 0; round < rounds; round++) {
    const floor = await bare.boot()
    const ours = await product.create()
    await product.remove(ours.vmId)
    pairs.push({ ours, floor })
  }
  return pairs
}

/** Differences are medians of the pairs', which were measured one right after the other. */
function print(pairs: Pair[], bindMs: number): void {
  const middle = (what: (pair: Pair) => number): string => seconds(median(pairs.map(what)))
  const line = (what: string, ours: (pair: Pair) => number, floor: (pair: Pair) => number): void =>
    show(
      what,
      middle(ours),
      middle(floor),
      middle((pair) => ours(pair) - floor(pair)),
    )
  const guestMs = ({ stepsMs }: Created): number => stepsMs['ready']!

  show('', 'value', 'floor', 'more')
  line(
    'POST /vms → reachable',
    ({ ours }) => ours.totalMs,
    ({ floor }) => floor.totalMs,
  )
  line(
    '  all but the guest itself',
    ({ ours }) => ours.totalMs - guestMs(ours),
    ({ floor }) => floor.startedMs,
  )
  line(
    '  the guest, until it answers',
    ({ ours }) => guestMs(ours),
    ({ floor }) => floor.totalMs - floor.startedMs,
  )
  for (const name of Object.keys(pairs[0]!.ours.stepsMs))
    show(
      `    step ${name}`,
      middle(({ ours }) => ours.stepsMs[name]!),
    )
  show('one filter bind', seconds(bindMs))

  const moreMs = median(pairs.map(({ ours, floor }) => ours.totalMs - floor.totalMs)) - bindMs
  const verdict = moreMs <= STRETCH_MS ? 'pass, stretch too' : moreMs <= GOAL_MS ? 'pass' : 'FAIL'
  console.log(
    `Without the bind ${seconds(moreMs)} more than bare; goal ≤ ${seconds(GOAL_MS)}, stretch ≤ ${seconds(STRETCH_MS)}: ${verdict}`,
  )
  if (moreMs > GOAL_MS) process.exitCode = 1
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(2)} s`
}

function show(what: string, ...columns: string[]): void {
  console.log([what.padEnd(32), ...columns.map((each) => each.padStart(10))].join(' '))
}
