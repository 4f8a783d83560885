import type { Plan } from '@berth/sdk'
import { rows } from '../../answer.ts'
import { verb } from '../../command.ts'
import { mebibytes } from '../../format.ts'

export const list = verb({
  name: 'list',
  about: 'list plans with their prices',
  example: 'plan list',
  run: async ({ berth }) =>
    rows(
      await berth.plans.list(),
      {
        SLUG: (each: Plan) => each.slug,
        VCPU: (each) => each.vcpu,
        RAM: (each) => mebibytes(each.ram),
        DISK: (each) => `${each.disk} GiB`,
        TRAFFIC: (each) => (each.bandwidth === 0 ? 'unmetered' : `${each.bandwidth} GB`),
        SPEED: (each) => `${each.networkSpeed} Mbit/s`,
        'A MONTH': (each) => `${each.priceMonthly} ${each.currency}`,
        AVAILABLE: (each) => each.available,
      },
      'There is no plan',
    ),
})
