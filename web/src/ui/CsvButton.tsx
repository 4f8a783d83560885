// Everything that a list is filtered by as a CSV file: page by page, with how far it has come.
import { Button } from '@mantine/core'
import { useState } from 'react'
import { useWrite } from '../api/client.ts'
import { listMessages as w } from '../words/words.ts'
import { CsvFile } from './csv.ts'
import { formatNumber } from './format.ts'
import { Icon } from './Icon.tsx'
import type { Column } from './Table.tsx'
import { toast } from './toasts.ts'

/** A browser keeps it in memory until it is saved. */
const MOST_CSV_ROWS = 50_000
const TELL_EVERY = 100

interface Props<Row> {
  fileName: string
  columns: Column<Row>[]
  /** All that match, fetched as they are read. */
  rows: () => AsyncIterable<Row>
}

export function CsvButton<Row>({ fileName, columns, rows }: Props<Row>) {
  const [count, setCount] = useState(0)
  const download = useWrite(async () => {
    const written = columns.filter(({ text }) => text)
    const file = new CsvFile(written.map(({ head }) => head))
    setCount(0)
    for await (const row of rows()) {
      if (file.rows >= MOST_CSV_ROWS) {
        toast.error(w.csvCut(formatNumber(MOST_CSV_ROWS)))
        break
      }
      file.add(written.map(({ text }) => text!(row)))
      if (file.rows % TELL_EVERY === 0) setCount(file.rows)
    }
    file.save(fileName)
  })
  const isBusy = download.isPending
  const progress = w.csvRows(formatNumber(count))
  return (
    <>
      <Button variant="default" leftSection={<Icon name="down" size={16} />} disabled={isBusy} onClick={() => download.mutate()}>
        {isBusy ? progress : w.csv}
      </Button>
      <output className="hidden">{isBusy ? progress : ''}</output>
    </>
  )
}
