// The script that guests run, with the `ip` of this machine. That of busybox is the one of real guests (conformance.prove.ts).
import { spawnSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { describeIf } from '../../../../../libvirt/test/describe-if.ts'
import { ROUTES_SCRIPT } from './guest-addresses.ts'

/** Two interfaces; `tell` is what the agent runs, and `shown` the routes with a gateway. */
const GUEST = `
for each in 0 9; do
  ip link add "e$each" type veth peer name "p$each" && ip link set "e$each" up && ip link set "p$each" up && ip addr add "10.$each.0.2/24" dev "e$each" || exit 9
done
tell() { sh -c "$0" sh "$@" 2> /dev/null || echo "refused"; }
shown() { ip -4 route show | grep via | sed 's/ *$//'; echo; }
`
const inGuest = (script: string): { status: number | null; shown: string[] } => {
  const { status, stdout } = spawnSync('unshare', ['--net', 'sh', '-c', GUEST + script, ROUTES_SCRIPT], { encoding: 'utf8' })
  return { status, shown: stdout.split('\n').filter((line) => line !== '') }
}
const ours = (range: string, gateway: string, device: string) => `${range} via ${gateway} dev ${device} proto 98 metric 2147483647`

describeIf(inGuest('').status === 0 ? undefined : 'needs root, and network interfaces of type veth')(
  'routes that the agent configures',
  () => {
    test('are those that were given last', () => {
      const [one, two] = [ours('10.1.0.0/24', '10.0.0.1', 'e0'), ours('10.8.0.0/16', '10.9.0.1', 'e9')]
      const first = 'tell 10.0.0.1 10.1.0.0/24 192.168.7.9/32; shown;'
      expect(inGuest(first).shown).toEqual([one, ours('192.168.7.9', '10.0.0.1', 'e0')])
      const second = 'tell 10.0.0.1 10.1.0.0/24 10.9.0.1 10.8.0.0/16;'
      expect(inGuest(`${first} ${second} ${second} shown`).shown.slice(2)).toEqual([one, two])
      expect(inGuest(`${first} tell 10.9.0.1 10.1.0.0/24; shown`).shown.slice(2)).toEqual([ours('10.1.0.0/24', '10.9.0.1', 'e9')])
      expect(inGuest(`${first} ${second} tell; tell; shown`).shown.slice(2)).toEqual([])
    })

    test('go after those of the owner, and leave them alone', () => {
      const own = [
        '10.1.0.0/24 via 10.0.0.77',
        '10.2.0.0/24 via 10.0.0.77 metric 100',
        '10.3.0.0/24 via 10.0.0.1 metric 2147483647',
        '10.4.0.0/24 via 10.0.0.1 proto 97',
      ]
      const script = `${own.map((route) => `ip route add ${route};`).join(' ')} tell 10.0.0.1 10.1.0.0/24 10.2.0.0/24; ip route get 10.1.0.5; ip route get 10.2.0.5; tell;`
      const { shown } = inGuest(`${script} shown`)
      expect(shown.filter((line) => /^10\.[12]\.0\.5 via/.test(line))).toEqual([
        expect.stringContaining('via 10.0.0.77'),
        expect.stringContaining('via 10.0.0.77'),
      ])
      expect(shown.slice(-own.length)).toEqual(own.map((route) => route.replace(/via \S+/, '$& dev e0')))
    })

    test('are refused by a guest that does not have the network yet', () => {
      expect(inGuest('tell 10.77.0.1 10.1.0.0/24 10.0.0.1 10.2.0.0/24; shown').shown).toEqual([
        'refused',
        ours('10.2.0.0/24', '10.0.0.1', 'e0'),
      ])
    })
  },
)
