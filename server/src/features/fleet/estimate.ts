// How long migrations take: each `factor × (5 s + bytes ÷ 100 MiB/s)`, where bytes are the memory of a running VM and what its disk takes on the
// host, and all of them the sum, because those at a time share what the hosts can do. The factor is the median of what recent migrations of the
// region took by the same formula, 1 where there were none.
const OVERHEAD_SECONDS = 5
const BYTES_PER_SECOND = 100 * 2 ** 20

const assumedSeconds = (bytes: number): number => OVERHEAD_SECONDS + bytes / BYTES_PER_SECOND

export interface MeasuredMigration {
  bytes: number
  source: string
  startedAt: Date
  completedAt: Date
}

/** Migrations that nobody could have waited for are not counted, such as those of simulated hosts. */
export function factorOf(measured: MeasuredMigration[]): number {
  const ratios = measured.filter((each) => secondsOf(each) >= 1).map((each) => shareOf(each, measured) / assumedSeconds(each.bytes))
  return ratios.toSorted((a, b) => a - b)[Math.floor(ratios.length / 2)] ?? 1
}

const secondsOf = ({ startedAt, completedAt }: Pick<MeasuredMigration, 'startedAt' | 'completedAt'>): number =>
  (completedAt.getTime() - startedAt.getTime()) / 1000

/** Its seconds, divided by how many left the host at the time on average. */
function shareOf(one: MeasuredMigration, all: MeasuredMigration[]): number {
  const own = secondsOf(one)
  const beside = all.filter((other) => other !== one && other.source === one.source).map((other) => overlapOf(one, other))
  return own / (1 + beside.reduce((sum, seconds) => sum + seconds, 0) / own)
}

const overlapOf = (a: MeasuredMigration, b: MeasuredMigration): number =>
  Math.max(
    0,
    secondsOf({
      startedAt: a.startedAt > b.startedAt ? a.startedAt : b.startedAt,
      completedAt: a.completedAt < b.completedAt ? a.completedAt : b.completedAt,
    }),
  )

export const estimateSeconds = (bytes: number, factor: number): number => factor * assumedSeconds(bytes)
