// Names that are easy to say, and what a pattern with a number makes of several VMs.
import type { VmForm } from './vm-form.ts'

const FIRST =
  'amber azure bold brave bright brisk calm clear coral crisp early fair fleet fresh gentle golden grand green happy keen light lucky mellow misty noble northern polar proud quick quiet rapid silver smooth snug solar southern steady sunny swift tidal upper warm west windy'.split(
    ' ',
  )
const SECOND =
  'anchor atoll bay beacon boat breeze bridge buoy canal cape cliff coast cove creek crest current delta dock dune ferry fjord gull harbor haven heron inlet island jetty keel lagoon lantern marina mast mole otter pier port quay reef ridge river sail shore skiff sound spray tide wave wharf'.split(
    ' ',
  )

const pick = <T>(items: T[], random: () => number): T => items[Math.floor(random() * items.length)]!

/** None that is taken already; with a number where the words run out. */
export function suggestHostname(taken: ReadonlySet<string>, random: () => number = Math.random): string {
  for (let tries = 0; tries < 20; tries++) {
    const name = `${pick(FIRST, random)}-${pick(SECOND, random)}`
    if (!taken.has(name)) return name
  }
  const base = `${pick(FIRST, random)}-${pick(SECOND, random)}`
  for (let number = 2; ; number++) if (!taken.has(`${base}-${number}`)) return `${base}-${number}`
}

const NUMBER = '{n}'

/** As the API numbers them: `{n}` is the number, which is appended where a name has none. */
export function namesOf({ hostname, name, count }: Pick<VmForm, 'hostname' | 'name' | 'count'>): { hostname: string; name: string }[] {
  const numbered = (text: string, n: number): string =>
    count === 1 ? text : (text.includes(NUMBER) ? text : `${text}-${NUMBER}`).replaceAll(NUMBER, String(n))
  return Array.from({ length: count }, (_, index) => {
    const own = numbered(hostname, index + 1)
    return { hostname: own, name: name === '' ? own : numbered(name, index + 1) }
  })
}
