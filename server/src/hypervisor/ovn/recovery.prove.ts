// Daemons of OVN are killed one after the other: traffic goes on, and changes made meanwhile are in force soon after they are back. Gateways
// fail over.
import { setTimeout as delay } from 'node:timers/promises'
import { pino } from 'pino'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { eventually } from '../../../../libvirt/test/eventually.ts'
import { describeIf } from '../../../../libvirt/test/describe-if.ts'
import { udpFrame } from '../../../test/frames.ts'
import { missingForOvn, OUTSIDE, OvnRegion, type Box, type Guest } from '../../../test/ovn-hosts.ts'
import { collect } from '../conformance/fixture.ts'
import type { Filter } from '../spec.ts'
import { portName, type NetworkController } from '../network-controller.ts'
import { networkController } from './controller.ts'
import { openNetworkDatabase, type NetworkDatabase } from './northbound.ts'
import { networkRows } from './network-rows.ts'

const soon = (): AbortSignal => AbortSignal.timeout(30_000)
const RECOVERY_MS = 10_000
const START_SOUTHBOUND = '/usr/share/ovn/scripts/ovn-ctl start_sb_ovsdb --db-sb-create-insecure-remote=yes'
const START_NORTHBOUND = '/usr/share/ovn/scripts/ovn-ctl start_nb_ovsdb --db-nb-create-insecure-remote=yes'

describeIf(missingForOvn())('after a crash of OVN', { timeout: 180_000 }, () => {
  let region: OvnRegion
  let database: NetworkDatabase
  let controller: NetworkController
  let one: Guest, other: Guest
  const snat = { address: '10.61.0.2', prefix: 24, gateway: OUTSIDE }
  const network = { networkId: 'neta', cidr: '10.0.0.0/24', gateway: '10.0.0.1', enableDhcp: true, dns: [], snat, routes: [], peers: [] }
  const port = (number: number, filter: Filter | null) => ({
    vmId: `c${number}`,
    mac: `52:54:00:00:01:0${number}`,
    networkId: 'neta',
    addresses: [`10.0.0.1${number}`],
    ranges: [],
    host: `hv${number}`,
    limitMbps: null,
    filter,
  })
  const set = (number: number, filter: Filter | null): Promise<void> => controller.ensurePort(port(number, filter), soon())
  const plug = async (number: number): Promise<Guest> => {
    const { mac, addresses } = port(number, null)
    await set(number, null)
    const guest = await region.addGuest(region.chassis[number - 1]!, { mac, address: addresses[0]!, interfaceId: portName(mac) })
    await database.portUp(portName(mac), soon())
    return guest
  }
  beforeAll(async () => {
    region = await OvnRegion.open(3)
    database = openNetworkDatabase({ ...region.endpoints, log: pino({ level: 'silent' }) })
    controller = networkController(database)
    await controller.ensurePublicNetwork({ ranges: ['10.61.0.0/24'], allowed: [] }, soon())
    await controller.ensureNetwork(network, soon())
    ;[one, other] = [await plug(1), await plug(2)]
    await eventually('the tunnel', async () => (await passes(one, other)) || undefined)
  }, 60_000)
  afterAll(async () => {
    database?.close()
    await region?.close()
  })

  let texts = 0
  const passes = async (from: Guest, to: Guest, mac = to.mac): Promise<boolean> => {
    const text = `text-${++texts}!`
    await from.send(udpFrame(from, { ...to, mac }, text))
    await delay(200)
    return (await to.received()).includes(text)
  }
  const kill = (box: Box, pidFile: string): Promise<string> => box.shell(`kill -9 $(cat /run/${pidFile})`)
  const CLOSED: Filter = { rules: [], defaultInbound: 'DROP', defaultOutbound: 'ACCEPT' }

  const crashes: [name: string, crash: () => Promise<unknown>, restart: () => Promise<unknown>][] = [
    [
      'northd',
      () => kill(region.central, 'ovn/ovn-northd.pid'),
      () =>
        region.central.shell(
          '/usr/share/ovn/scripts/ovn-ctl start_northd --db-nb-create-insecure-remote=yes --db-sb-create-insecure-remote=yes',
        ),
    ],
    ['the northbound database', () => kill(region.central, 'ovn/ovnnb_db.pid'), () => region.central.shell(START_NORTHBOUND)],
    ['the southbound database', () => kill(region.central, 'ovn/ovnsb_db.pid'), () => region.central.shell(START_SOUTHBOUND)],
    [
      'ovn-controller',
      () => kill(region.chassis[1]!, 'ovn/ovn-controller.pid'),
      () => region.chassis[1]!.shell('/usr/share/ovn/scripts/ovn-ctl start_controller'),
    ],
  ]
  for (const [name, crash, restart] of crashes)
    test(`of ${name} traffic goes on, and a change made meanwhile is in force when it is confirmed`, async () => {
      await crash()
      expect(await passes(one, other)).toBe(true)
      const changed = set(2, CLOSED)
      await delay(1_000)
      expect(await passes(one, other)).toBe(true)
      const startedAt = performance.now()
      await restart()
      await changed
      expect(performance.now() - startedAt).toBeLessThan(RECOVERY_MS)
      expect(await passes(one, other)).toBe(false)
      await set(2, null)
      expect(await passes(one, other)).toBe(true)
    })

  const versions = async () => [
    await collect(controller.listNetworks(soon())),
    (await collect(controller.listPorts(soon()))).toSorted((a, b) => a.mac.localeCompare(b.mac)).map(({ version }) => version),
  ]

  test('rows that an older release has made are listed as outdated until they are made anew', async () => {
    await region.central.shell(`for each in $(ovn-nbctl --bare --columns=_uuid list Logical_Switch_Port); do
      ovn-nbctl remove Logical_Switch_Port $each external_ids layout; done
      ovn-nbctl remove Logical_Switch berth-neta external_ids layout`)
    await expect.poll(versions).toEqual([[{ networkId: 'neta', version: -1 }], [-1, -1]])
    await controller.ensureNetwork(network, soon())
    for (const number of [1, 2]) await set(number, null)
    expect(await versions()).toEqual([[{ networkId: 'neta', version: 0 }], [0, 0]])
  })

  test('its northbound database is an older one: that shows, and hosts confirm what is changed then', async () => {
    const backup = '/run/backup.db'
    const file = '/var/lib/ovn/ovnnb_db.db'
    await region.central.shell(`ovsdb-client backup unix:/run/ovn/ovnnb_db.sock > ${backup}`)
    const routed = { ...network, version: 4, routes: [{ destination: '192.168.7.0/24', nextHop: '10.0.0.12' }] }
    await controller.ensureNetwork(routed, soon())
    for (const number of [1, 2]) await controller.ensurePort({ ...port(number, CLOSED), version: 7 }, soon())
    expect(await versions()).toEqual([[{ networkId: 'neta', version: 4 }], [7, 7]])
    expect(await passes(one, other)).toBe(false)

    // What hosts have confirmed last has a greater number than what is changed next.
    await region.central.shell('kill -STOP $(cat /run/ovn/ovn-northd.pid)')
    await kill(region.central, 'ovn/ovnnb_db.pid')
    await region.central.shell(`cp ${backup} ${file}; ${START_NORTHBOUND}`)
    await expect.poll(versions, { timeout: 10_000 }).toEqual([[{ networkId: 'neta', version: 0 }], [0, 0]])
    const changed = controller.ensurePort({ ...port(1, CLOSED), version: 7 }, soon()).then(() => 'confirmed')
    expect(await Promise.race([changed, delay(2_000)])).toBeUndefined()
    await region.central.shell('kill -CONT $(cat /run/ovn/ovn-northd.pid)')
    expect(await changed).toBe('confirmed')
    expect([await passes(one, other), await passes(other, one)]).toEqual([true, false])
    expect(await versions()).toEqual([[{ networkId: 'neta', version: 0 }], [7, 0]])
    await controller.ensureNetwork({ ...network, version: 5 }, soon())
    for (const number of [1, 2]) await controller.ensurePort({ ...port(number, null), version: 8 }, soon())
    expect(await versions()).toEqual([[{ networkId: 'neta', version: 5 }], [8, 8]])
  })

  test.each([
    ['northbound', 'ovn/ovnnb_db.pid', () => region.central.shell(START_NORTHBOUND)],
    ['southbound', 'ovn/ovnsb_db.pid', () => region.central.shell(START_SOUTHBOUND)],
  ])('of the %s database calls are rejected soon, and succeed when it is back', async (_, pidFile, restart) => {
    let changes = 0
    const attempt = async (): Promise<number> => {
      const startedAt = performance.now()
      const filter = ++changes % 2 === 0 ? null : CLOSED
      await expect(set(2, filter)).rejects.toMatchObject({ kind: 'unreachable' })
      return performance.now() - startedAt
    }
    await kill(region.central, pidFile)
    await delay(500) // a call that was sent before the loss is noticed may have had its effect
    expect(await attempt()).toBeLessThan(8_000)
    expect(await attempt()).toBeLessThan(500)
    await expect(controller.health(soon())).rejects.toMatchObject({ kind: 'unreachable' })
    await restart()
    // Daemons of OVN connect to it after up to 8 s.
    await expect
      .poll(
        () =>
          set(2, null).then(
            () => true,
            () => false,
          ),
        { timeout: 2 * RECOVERY_MS },
      )
      .toBe(true)
  })

  test('of a host another one is the gateway of its networks within 5 s', async () => {
    const inside = networkRows(network).flatMap((row) =>
      row.table === 'Logical_Router_Port' && row.key === 'inside' ? [row.columns.mac!] : [],
    )[0]!
    const gateway = await region.central.shell(
      'ovn-sbctl --bare --columns=name list Chassis $(ovn-sbctl --bare --columns=chassis find Port_Binding logical_port=cr-berth-neta-outside)',
    )
    const index = region.chassis.findIndex(({ name }) => name === gateway.trim())
    const guest = index === 0 ? other : one
    const leaves = () => passes(guest, region.outside, inside)
    await expect.poll(leaves, { timeout: 10_000 }).toBe(true)
    // Its cable for tunnels is pulled.
    const startedAt = performance.now()
    await region.chassis[index]!.shell('ip link set tunnels down')
    await expect.poll(leaves, { timeout: 20_000, interval: 50 }).toBe(true)
    expect(performance.now() - startedAt).toBeLessThan(5_000)
  })
})
