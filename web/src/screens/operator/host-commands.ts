// The commands that add a host, from what was filled in. Fields with anything that a shell would read are refused.

const ADDRESS = /^(?:[\d.]{7,15}|[\da-fA-F:]{2,39}|[a-zA-Z\d](?:[a-zA-Z\d-]{0,61}[a-zA-Z\d])?(?:\.[a-zA-Z\d-]{1,63})*)$/
const NAME = /^[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?$/

export const isAddress = (text: string): boolean => ADDRESS.test(text)
export const isHostName = (text: string): boolean => NAME.test(text)

interface HostCommands {
  certificate: string
  prepare: string
  register: string
}

/** Null while something is missing. */
export function commandsFor({ address, name, region }: { address: string; name: string; region: string }): HostCommands | null {
  if (!isAddress(address) || !isHostName(name) || !isHostName(region)) return null
  const authority = address.includes(':') ? `[${address}]` : address
  return {
    certificate: `berthd host certificate --address ${address} --out bundle`,
    prepare: 'sudo berthd host prepare --certificate bundle',
    register: `berthd host add qemu+tls://${authority}/system --name ${name} --region ${region}`,
  }
}
