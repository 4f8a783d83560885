// The balance of the past days and of those to come.
import { useComputedColorScheme } from '@mantine/core'
import type { WalletTimeline } from '@berth/sdk'
import { useEffect, useRef } from 'react'
import uPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'
import { formatMoney, formatTick } from '../../ui/format.ts'
import { walletMessages } from '../../words/words.ts'
import { toSeries } from './balance-series.ts'
import css from './wallet.module.css'

const w = walletMessages.graph
const HEIGHT = 220
const DAY_S = 86_400

export default function BalanceGraph({ timeline }: { timeline: WalletTimeline }) {
  const container = useRef<HTMLDivElement>(null)
  const scheme = useComputedColorScheme('light')
  const { currency } = timeline
  useEffect(() => {
    const element = container.current!
    const { times, past, upcoming } = toSeries(timeline)
    const colour = (name: string): string => getComputedStyle(element).getPropertyValue(name).trim()
    const axis = {
      stroke: colour('--muted'),
      grid: { stroke: colour('--chart-grid'), width: 1 },
      ticks: { show: false },
      font: `11px ${colour('--font') || 'sans-serif'}`,
    }
    const [own, next] = [colour('--chart-1'), colour('--chart-2')]
    const steps = uPlot.paths.stepped!({ align: 1 })
    const plot = new uPlot(
      {
        width: element.clientWidth,
        height: HEIGHT,
        legend: { show: false },
        cursor: { y: false },
        tzDate: (at) => uPlot.tzDate(new Date(at * 1000), 'Etc/UTC'),
        scales: { y: { range: (_, least, most) => [Math.min(0, least * 1.1), Math.max(most * 1.1, 1)] } },
        axes: [
          { ...axis, values: (_, ticks) => ticks.map((tick) => formatTick(tick, DAY_S)) },
          { ...axis, size: 74, values: (_, ticks) => ticks.map((tick) => formatMoney(tick, currency)) },
        ],
        series: [
          {},
          { label: w.past, stroke: own, width: 1.8, fill: `${own}1c`, paths: steps, points: { show: false } },
          { label: w.upcoming, stroke: next, width: 1.8, dash: [5, 4], paths: steps, points: { show: false } },
        ],
      },
      [times, past, upcoming],
      element,
    )
    const resize = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height: HEIGHT }))
    resize.observe(element)
    return () => {
      resize.disconnect()
      plot.destroy()
    }
  }, [timeline, currency, scheme])
  const balances = timeline.past.map(({ balance }) => Number(balance))
  const money = (value: number): string => formatMoney(value, currency)
  const last = Number(timeline.upcoming.at(-1)?.balance ?? timeline.balance)
  const text = w.described(money(Math.min(...balances)), money(Math.max(...balances)), money(Number(timeline.balance)), money(last))
  return <figure ref={container} className={css['plot']} aria-label={text} />
}
