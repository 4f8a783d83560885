import { said } from '../../answer.ts'
import { verb } from '../../command.ts'

export const remove = verb({
  name: 'delete',
  about: 'delete a network that no VM is in',
  args: '<network>',
  example: 'network delete backend',
  asks: true,
  async run(call, _, network: string) {
    const id = await call.id('network', network)
    await call.confirm(`Network ${network} will be gone.`, network)
    return said(await call.berth.networks.delete(id), network, `Network ${network} is gone`)
  },
})
