import { missing, satisfied, type Step } from './setup-step.ts'
import { readFileOrNull, run } from './shell.ts'

const FORWARD = '/proc/sys/net/ipv4/ip_forward'

export const forwarding: Step = {
  name: 'forwarding',
  async check() {
    return (await readFileOrNull(FORWARD))?.trim() === '1'
      ? satisfied('IP forwarding is enabled')
      : missing('net/ipv4/ip_forward must be 1')
  },
  apply: async () => void (await run('sh', '-ec', forwardingCommands)),
}

export const forwardingCommands = `
echo 1 > ${FORWARD}
`
