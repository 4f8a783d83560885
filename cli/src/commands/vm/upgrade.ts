import { verb } from '../../command.ts'
import { wrongUsage } from '../../failure.ts'
import { priced } from '../views.ts'
import { changeVm } from './power.ts'

export const upgrade = verb<{ plan?: string; dryRun?: true }>({
  name: 'upgrade',
  about: 'move a VM to a larger plan',
  args: '<vm>',
  options: [['--plan <plan>', 'as in berth plan list (required)']],
  example: 'vm upgrade web-1 --plan large',
  waits: true,
  priced: true,
  async run(call, { plan, dryRun }, vm: string) {
    if (!plan) throw wrongUsage('Say which plan: --plan large, or another of berth plan list')
    const planId = await call.id('plan', plan)
    if (dryRun) return priced(await call.berth.vms.quoteUpgrade(await call.id('vm', vm), planId))
    return changeVm(call, vm, 'upgrading', (berth, id) => berth.vms.upgrade(id, planId))
  },
})
