import { Checkbox } from '@mantine/core'
import { Stack } from '../../ui/Page.tsx'

interface Props {
  label: string
  none: string
  items: { id: string; name: string; about: string; isOff: boolean }[]
  value: string[]
  onChange: (ids: string[]) => void
  error: string | undefined
}

export const CheckboxList = ({ label, none, items, value, onChange, error }: Props) => (
  <Checkbox.Group label={label} value={value} onChange={onChange} error={error}>
    <Stack gap={8}>
      <div />
      {items.length === 0 && <span className="muted">{none}</span>}
      {items.map(({ id, name, about, isOff }) => (
        <Checkbox key={id} value={id} label={name} description={about} disabled={isOff && !value.includes(id)} />
      ))}
    </Stack>
  </Checkbox.Group>
)
