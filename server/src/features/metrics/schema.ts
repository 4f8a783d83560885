import { nullable, object, Timestamp, Type, type Static } from '../../http/api/schema.ts'

const Moment = (description: string) =>
  Type.Optional(Type.String({ format: 'date-time', rule: 'must be a date-time such as 2026-01-31T12:00:00Z', description }))

export const MetricsQuery = {
  from: Moment('The beginning; an hour before `to` unless given. Metrics are kept for 30 days'),
  to: Moment('The end; now unless given'),
  step: Type.Optional(
    Type.Integer({
      minimum: 60,
      maximum: 86_400,
      description:
        'Seconds between two points: a multiple of 60, or of 900 for a range that begins more than 24 hours ago; chosen by the length of the range unless given',
    }),
  ),
}

const values = (description: string) => Type.Array(nullable(Type.Number()), { description })

const RATES = {
  cpuPercent: values('Of all its vCPUs together: 0 to 100'),
  ramUsed: values('MiB, as the guest tells; null when it does not'),
  diskReadBytesPerSecond: values('Read from its disks'),
  diskWriteBytesPerSecond: values('Written to its disks'),
  networkInBytesPerSecond: values('Received on all interfaces'),
  networkOutBytesPerSecond: values('Sent on all interfaces'),
  cpuStealPercent: values('How much of the time its vCPUs were ready to run and waited for a CPU of the host: 0 to 100'),
  diskRequestsPerSecond: values('Reads and writes of its disks'),
  diskWaitMs: values('How long such a request took; null without one'),
}

export const VmMetrics = object(
  {
    from: Timestamp,
    to: Timestamp,
    step: Type.Integer({ description: 'Seconds between two points' }),
    timestamps: Type.Array(Timestamp, { description: 'Where each point begins; all series have as many values' }),
    series: object({ ...RATES, ramTotal: values('MiB') }, { description: 'Averages; null where nothing was measured' }),
    maxima: object(RATES, { description: 'The highest minute of each point' }),
  },
  { title: 'VmMetrics' },
)
export type VmMetrics = Static<typeof VmMetrics>

export const MAX_RECENT_VMS = 100
const AN_ID = '[cC][^\\s,-]{8,63}'

export const RecentQuery = {
  vmIds: Type.String({
    pattern: `^${AN_ID}(,${AN_ID}){0,${MAX_RECENT_VMS - 1}}$`,
    maxLength: MAX_RECENT_VMS * 65,
    rule: `must be 1-${MAX_RECENT_VMS} ids of VMs, separated by commas`,
    description: `Ids of at most ${MAX_RECENT_VMS} VMs, separated by commas. Those that the account does not have are left out`,
  }),
}

const points = (description: string) => Type.Array(nullable(Type.Number()), { description })

export const RecentVmMetrics = object(
  {
    from: Timestamp,
    to: Timestamp,
    step: Type.Integer({ description: 'Seconds between two points' }),
    vms: Type.Array(
      object({
        vmId: Type.String(),
        cpuPercent: points('Of all its vCPUs together: 0 to 100. Null where nothing was measured'),
        networkBytesPerSecond: points('Received and sent on all interfaces together'),
      }),
      { description: 'In the order asked for' },
    ),
  },
  { title: 'RecentVmMetrics', description: 'Averages of a quarter of an hour each, of the last 6 hours; the newest is not over yet' },
)
export type RecentVmMetrics = Static<typeof RecentVmMetrics>
