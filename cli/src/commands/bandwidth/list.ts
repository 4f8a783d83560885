import type { BandwidthUsage } from '@berth/sdk'
import { rows } from '../../answer.ts'
import { verb } from '../../command.ts'
import { bytes, time } from '../../format.ts'

export const list = verb({
  name: 'list',
  about: 'what each VM has used of its month',
  example: 'bandwidth list',
  run: async ({ berth }) =>
    rows(
      await berth.bandwidth.list(),
      {
        VM: (each: BandwidthUsage) => each.vmName,
        USED: (each) => bytes(each.usedBytes),
        OF: (each) => bytes(each.capBytes),
        PACKS: (each) => bytes(each.packBytes),
        THROTTLED: (each) => each.throttled,
        UNTIL: (each) => time(each.nextRenewalAt),
      },
      'There is no VM yet: berth vm create --help',
      ({ vmName }: { vmName?: string }) => vmName ?? '',
    ),
})
