import { said } from '../../answer.ts'
import { verb } from '../../command.ts'

export const rename = verb({
  name: 'rename',
  about: 'give a network another name',
  args: '<network> <name>',
  example: 'network rename backend databases',
  async run(call, _, network: string, name: string) {
    const renamed = await call.berth.networks.rename(await call.id('network', network), name)
    return said(renamed, renamed.name, `${network} is now called ${renamed.name}`)
  },
})
