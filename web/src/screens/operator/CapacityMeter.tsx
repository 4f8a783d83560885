import { formatNumber } from '../../ui/format.ts'
import { Meter } from '../../ui/Meter.tsx'
import { operatorMessages } from '../../words/words.ts'

const w = operatorMessages.hosts

interface Props {
  of: { used: number; total: number }
  what: string
  where: string
  unit?: 'GiB'
  /** Converts MiB to GiB for display. */
  mebibytes?: boolean
}

export function CapacityMeter({ of: { used, total }, what, where, unit, mebibytes = false }: Props) {
  const show = (value: number): string => formatNumber(mebibytes ? Math.round(value / 1024) : value)
  const suffix = unit ? ` ${unit}` : ''
  return <Meter used={used} of={total} label={w.of(what, where)} text={w.used(show(used), `${show(total)}${suffix}`)} />
}
