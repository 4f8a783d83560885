import { NativeSelect } from '@mantine/core'
import { commonMessages } from '../messages/common.ts'
import { usePaging } from './paging.ts'

interface Props {
  label: string
  status: string | undefined
  choices: Record<string, string>
  size?: 'xs' | 'sm'
}

/** Which status a list is to show; `choices` are their names in the address with their words. */
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
