// Decides which network card carries the public network, from the options and from what was decided before.
import { join } from 'node:path'
import { SetupError, type Configuration, type Uplink } from './setup-step.ts'
import { BERTH_FOLDER, exists, readFileOrNull, run } from './shell.ts'
import { configurationOf, requireNic, requireStatic, UPLINK_BRIDGE, type Link, type LinkRoute } from './uplink-move.ts'

/** The script that plugs the card in, with what it is made of in its second line: both change together. */
export const UPLINK_SCRIPT = join(BERTH_FOLDER, 'uplink.sh')

export async function loadUplink(): Promise<Uplink | null> {
  const [, state] = ((await readFileOrNull(UPLINK_SCRIPT)) ?? '').split('\n')
  if (state === undefined) return null
  try {
    return JSON.parse(state.slice('# '.length)) as Uplink | null
  } catch {
    throw new SetupError(
      `${UPLINK_SCRIPT} is damaged`,
      `look at ip addr show ${UPLINK_BRIDGE}, then remove the file and give --uplink again`,
    )
  }
}

interface UplinkOptions {
  uplink?: string | undefined
  vlan?: number | undefined
}

export async function planUplink({ uplink: nic, vlan }: UplinkOptions): Promise<Uplink | null> {
  const known = await loadUplink()
  if (vlan !== undefined && (nic === undefined || nic === 'none'))
    throw new SetupError('A VLAN is one of an uplink', 'give both: --uplink eth1 --vlan 120')
  if (vlan !== undefined && !(Number.isInteger(vlan) && vlan >= 1 && vlan <= 4094))
    throw new SetupError('A VLAN is a number from 1 to 4094', 'give one such as --vlan 120')
  if (nic === undefined) return known
  if (nic === 'none') return null
  if (known?.nic === nic) return { ...known, vlan: vlan ?? null }
  if (known)
    throw new SetupError(`The uplink of this host is ${known.nic} already`, 'give it back first: berthd host prepare --uplink none')
  return { nic, vlan: vlan ?? null, ...(await describeNic(nic)) }
}

export const listLinks = async (): Promise<Link[]> => JSON.parse(await run('ip', '-json', '-details', 'addr')) as Link[]

const listRoutes = async (family: 4 | 6): Promise<LinkRoute[]> =>
  JSON.parse((await run('ip', '-json', `-${family}`, 'route', 'show', 'table', 'all')) || '[]') as LinkRoute[]

export const readConfiguration = async (link: Link): Promise<Configuration> =>
  configurationOf(link, { 4: await listRoutes(4), 6: await listRoutes(6) })

async function describeNic(nic: string): Promise<Omit<Uplink, 'nic' | 'vlan'>> {
  const folder = `/sys/class/net/${nic}`
  const link = requireNic(await listLinks(), nic, {
    bridge: await run('ovs-vsctl', '--timeout=5', 'port-to-br', nic).then(
      (bridge) => bridge.trim(),
      () => null,
    ),
    wireless: (await exists(join(folder, 'wireless'))) || (await exists(join(folder, 'phy80211'))),
  })
  requireStatic(link)
  const disabled = (await readFileOrNull(`/proc/sys/net/ipv6/conf/${nic}/disable_ipv6`)) ?? '1'
  const features = await run('ethtool', '-k', nic).catch(() => '')
  return {
    mac: link.address,
    mtu: link.mtu,
    ipv6: disabled.trim() === '0',
    offloads: /^tx-checksumming: on/m.test(features),
    ...(await readConfiguration(link)),
  }
}
