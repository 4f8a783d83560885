import { NativeSelect } from '@mantine/core'
import { commonMessages } from '../words/words.ts'
import { usePaging } from './paging.ts'

interface Props {
  label: string
  status: string | undefined
  choices: Record<string, string>
  size?: 'xs' | 'sm'
}

/** Filters a list by status; `choices` maps the value in the URL to its label. */
export function StatusFilter({ label, status, choices, size = 'sm' }: Props) {
  const { filter } = usePaging()
  return (
    <NativeSelect
      size={size}
      aria-label={label}
      value={status ?? ''}
      onChange={(event) => filter({ status: event.currentTarget.value || undefined })}
      data={[{ value: '', label: commonMessages.all }, ...Object.entries(choices).map(([value, words]) => ({ value, label: words }))]}
    />
  )
}
