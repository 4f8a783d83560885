// What is run on a machine that becomes a host. The server has checked the name of the card.

interface HostCommands {
  fetch: string
  prepare: string
}

export const commandsFor = ({ origin, uplink }: { origin: string; uplink: string | null }): HostCommands => ({
  fetch: `berthd host fetch-bundle ${origin} --token-file - --out bundle`,
  prepare: `sudo berthd host prepare --certificate bundle${uplink === null ? '' : ` --uplink ${uplink}`}`,
})
