import { said } from '../../answer.ts'
import { verb } from '../../command.ts'

export const remove = verb({
  name: 'delete',
  about: 'delete a network that no VM is in',
  args: '<network>',
  example: 'network delete backend',
  run: async (call, _, network: string) =>
    said(await call.berth.networks.delete(await call.id('network', network)), network, `Network ${network} is gone`),
})
