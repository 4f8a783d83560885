import { rows } from '../../answer.ts'
import { verb } from '../../command.ts'
import { TRANSACTION_COLUMNS } from '../views.ts'

export const packs = verb({
  name: 'packs',
  about: 'packs that were bought for a VM',
  args: '<vm>',
  example: 'bandwidth packs web-1',
  run: async (call, _, vm: string) =>
    rows(
      await call.berth.bandwidth.packs(await call.id('vm', vm)).all(),
      TRANSACTION_COLUMNS,
      `There is none yet: berth bandwidth buy ${vm} 1000`,
    ),
})
