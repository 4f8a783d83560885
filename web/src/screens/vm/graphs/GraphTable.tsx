import { formatDateTime } from '../../../ui/format.ts'
import { Table } from '../../../ui/Table.tsx'
import { vmMessages } from '../../../words/words.ts'
import type { Line } from './plot.ts'
import { toRows } from './series.ts'

/** As many as need no scroll bar of their own. */
const ROWS = 15

interface Props {
  title: string
  times: number[]
  lines: Line[]
  format: (value: number) => string
}

/** The newest first; long ranges as averages. */
export const GraphTable = ({ title, times, lines, format }: Props) => (
  <Table
    caption={title}
    rows={toRows(
      times,
      lines.map(({ values }) => values),
      ROWS,
    )}
    rowKey={({ time }) => String(time)}
    columns={[
      {
        head: vmMessages.graphs.time,
        cell: ({ time }) => <span className="numbers">{formatDateTime(new Date(time * 1_000).toISOString())}</span>,
      },
      ...lines.map(({ label }, index) => ({
        head: label,
        right: true,
        cell: ({ values }: { values: (number | null)[] }) => {
          const value = values[index]
          return value === null || value === undefined ? '—' : format(value)
        },
      })),
    ]}
  />
)
