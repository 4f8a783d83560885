import { record } from '../../answer.ts'
import { verb } from '../../command.ts'
import { NETWORK_FIELDS } from '../views.ts'

export const get = verb({
  name: 'get',
  about: 'show a private network',
  args: '<network>',
  example: 'network get backend',
  run: async (call, _, network: string) => record(await call.berth.networks.get(await call.id('network', network)), NETWORK_FIELDS),
})
