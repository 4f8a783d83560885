// Private networks: one libvirt network each, with the spec in its metadata.
import { ErrorCode, hasCode, type Host, type Named } from '@berth/libvirt'
import { DriverError, type Network, type Networking, type NetworkSpec } from '../../driver.ts'
import { eachDomain } from '../domain/lookup.ts'
import { hasText, undefinedIfNotFound } from '../core/errors.ts'
import { ensurePrivateFilter } from './filters.ts'
import { interfacesOf, readInterface } from '../xml/interface-xml.ts'
import { networkName } from '../core/resource-names.ts'
import { isRouted, isSameNetwork, networkXml, overlaps, readNetwork } from '../xml/network-xml.ts'
import type { HostContext } from '../core/host-context.ts'
import { readXml } from '../core/xml.ts'

export interface KnownNetwork {
  network: Named
  spec: NetworkSpec
  isActive: boolean
}

export function networkMethods(context: HostContext): Pick<Networking, 'ensureNetwork' | 'ensureNoNetwork'> {
  return {
    ensureNetwork: (wanted, signal) =>
      context.exclusive(`network:${wanted.networkId}`, signal, async () => {
        await ensurePrivateFilter(context, signal)
        const known = await findNetwork(context, wanted.networkId, signal)
        if (known && isSameNetwork(known.spec, wanted)) return start(context, known.network, signal)
        await requireNoOverlap(context, wanted, signal)
        if (known) await requireDetached(context, wanted.networkId, signal)
        await replace(context, known, wanted, signal)
      }),

    ensureNoNetwork: (networkId, signal) =>
      context.exclusive(`network:${networkId}`, signal, async () => {
        const network = await lookUp(context, networkId, signal)
        if (!network) return
        await requireDetached(context, networkId, signal)
        await stop(context, network, signal)
        await context.call(`remove network ${networkId}`, signal, (host) => undefinedIfNotFound(host.networks.undefine({ network })))
      }),
  }
}

const lookUp = ({ call }: HostContext, networkId: string, signal: AbortSignal): Promise<Named | undefined> =>
  call(`find network ${networkId}`, signal, (host) => undefinedIfNotFound(host.networks.lookupByName({ name: networkName(networkId) })))

export async function findNetwork(context: HostContext, networkId: string, signal: AbortSignal): Promise<KnownNetwork | undefined> {
  const network = await lookUp(context, networkId, signal)
  return network && describe(context, network, signal)
}

/** Live, or the definition of an inactive network. Undefined for an unknown network, or one that does not exist any more. */
const describe = ({ call }: HostContext, network: Named, signal: AbortSignal): Promise<KnownNetwork | undefined> =>
  call(`read network ${network.name}`, signal, async (host) => {
    const xml = await undefinedIfNotFound(host.networks.getXml({ network }))
    const spec = xml === undefined ? undefined : readNetwork(readXml(xml))
    return spec && { network, spec, isActive: (await host.networks.isActive({ network })) === 1 }
  })

export async function* eachNetwork(context: HostContext, signal: AbortSignal): AsyncGenerator<KnownNetwork> {
  for (const network of await context.call('list networks', signal, (host) => host.networks.listAll())) {
    const known = await describe(context, network, signal)
    if (known) yield known
  }
}

export async function* listNetworks(context: HostContext, signal: AbortSignal): AsyncGenerator<Network> {
  const macs = await attachedMacs(context, signal)
  for await (const { spec } of eachNetwork(context, signal)) yield { ...spec, attachedMacs: (macs.get(spec.networkId) ?? []).sort() }
}

async function attachedMacs(context: HostContext, signal: AbortSignal): Promise<Map<string, string[]>> {
  const found = new Map<string, string[]>()
  for await (const { xml } of eachDomain(context, signal))
    for (const { mac, networkId } of interfacesOf(xml).map(readInterface))
      if (networkId) found.set(networkId, [...(found.get(networkId) ?? []), mac])
  return found
}

/** libvirt would stop the network and disconnect them. */
async function requireDetached(context: HostContext, networkId: string, signal: AbortSignal): Promise<void> {
  const macs = (await attachedMacs(context, signal)).get(networkId)
  if (macs) throw new DriverError('in_use', `Network ${networkId} on host ${context.hostId} has ${macs.join(', ')} attached`)
}

/** libvirt checks routes only, and would miss a network that is being started. */
async function requireNoOverlap(context: HostContext, wanted: NetworkSpec, signal: AbortSignal): Promise<void> {
  if (!isRouted(wanted)) return
  for await (const { spec } of eachNetwork(context, signal))
    if (spec.networkId !== wanted.networkId && isRouted(spec) && overlaps(spec.cidr, wanted.cidr))
      throw overlapping(context, wanted, `network ${spec.networkId} with ${spec.cidr}`)
}

const overlapping = ({ hostId }: HostContext, { networkId, cidr }: NetworkSpec, other: string): DriverError =>
  new DriverError('conflict', `${cidr} of network ${networkId} overlaps ${other} on host ${hostId}`)

/** The definition is written last, so that a repeated call detects and completes an interrupted change. */
async function replace(context: HostContext, known: KnownNetwork | undefined, wanted: NetworkSpec, signal: AbortSignal): Promise<void> {
  const define = (spec: NetworkSpec): Promise<Named> =>
    context.call(`define network ${spec.networkId}`, signal, (host) => host.networks.define({ xml: networkXml(spec) }))
  if (known?.isActive) await stop(context, known.network, signal)
  const network = await define(wanted)
  try {
    await start(context, network, signal)
  } catch (error) {
    if (!hasText(error, 'addressRangeInUse')) throw error
    if (known) await start(context, await define(known.spec), signal)
    else
      await context.call(`remove network ${wanted.networkId}`, signal, (host) => undefinedIfNotFound(host.networks.undefine({ network })))
    throw overlapping(context, wanted, 'a range in use by the host')
  }
}

async function start({ call }: HostContext, network: Named, signal: AbortSignal): Promise<void> {
  await call(`start network ${network.name}`, signal, async (host) => {
    await host.networks.setAutostart({ network, autostart: 1 })
    if (!(await isActive(host, network))) await host.networks.create({ network }).catch(ignoreIf(host, network, true))
  })
}

async function stop({ call }: HostContext, network: Named, signal: AbortSignal): Promise<void> {
  await call(`stop network ${network.name}`, signal, async (host) => {
    if (await isActive(host, network)) await undefinedIfNotFound(host.networks.destroy({ network })).catch(ignoreIf(host, network, false))
  })
}

const isActive = async (host: Host, network: Named): Promise<boolean> =>
  (await undefinedIfNotFound(host.networks.isActive({ network }))) === 1

/** Another process has started or stopped it already. */
const ignoreIf =
  (host: Host, network: Named, active: boolean) =>
  async (error: unknown): Promise<void> => {
    if (!hasCode(error, ErrorCode.operationInvalid) || (await isActive(host, network)) !== active) throw error
  }
