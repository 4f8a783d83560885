import { said } from '../../answer.ts'
import { verb } from '../../command.ts'

export const rename = verb({
  name: 'rename',
  about: 'give a VM another name; its hostname stays',
  args: '<vm> <name>',
  example: 'vm rename web-1 shop',
  async run(call, _, vm: string, name: string) {
    const renamed = await call.berth.vms.update(await call.id('vm', vm), { name })
    return said(renamed, renamed.name, `${vm} is now called ${renamed.name}`)
  },
})
