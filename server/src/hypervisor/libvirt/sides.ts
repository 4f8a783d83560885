// An interface has two sides: as it is in the running machine, and as it will be at the next start.
import type { Domain } from '@berth/libvirt'
import { readDefinition, readDomain } from './domains.ts'
import { interfacesOf, macOf } from './interface-xml.ts'
import type { HostContext } from './session.ts'
import type { Element } from './xml.ts'

export interface InterfaceXml {
  definition: Element | undefined
  /** Undefined also while the machine is off. */
  live: Element | undefined
}

export async function findInterfaceXml(
  context: HostContext,
  machine: { domain: Domain; isOn: boolean },
  mac: string,
  signal: AbortSignal,
): Promise<InterfaceXml> {
  const pick = (xml: Element | undefined): Element | undefined => xml && interfacesOf(xml).find((nic) => macOf(nic) === mac)
  return {
    definition: pick(await readDefinition(context, machine.domain, signal)),
    live: machine.isOn ? pick(await readDomain(context, machine.domain, signal)) : undefined,
  }
}
