import { ActionIcon, NumberInput, TextInput, Tooltip } from '@mantine/core'
import { fieldError } from '../../api/errors.ts'
import { Icon } from '../../ui/Icon.tsx'
import { Stack } from '../../ui/Page.tsx'
import { createVmMessages as w } from '../../words/words.ts'
import css from './create-vm.module.css'
import { namesOf, suggestHostname } from './names.ts'
import type { VmForm } from './vm-form.ts'

interface Props {
  form: VmForm
  set: (change: Partial<VmForm>) => void
  hostnames: string[]
  error: unknown
}

export const NameStep = ({ form, set, hostnames, error }: Props) => (
  <Stack gap={12}>
    <div className={css['fields']}>
      <TextInput
        label={w.hostname}
        description={form.count > 1 ? w.hostnamesHint : w.hostnameHint}
        value={form.hostname}
        onChange={(event) => set({ hostname: event.currentTarget.value.trim() })}
        error={fieldError(error, 'hostname')}
        maxLength={63}
        autoComplete="off"
        spellCheck={false}
        required
        rightSection={
          <Tooltip label={w.suggest}>
            <ActionIcon
              variant="subtle"
              color="gray"
              aria-label={w.suggest}
              onClick={() => set({ hostname: suggestHostname(new Set([...hostnames, form.hostname])) })}
            >
              <Icon name="restart" size={15} />
            </ActionIcon>
          </Tooltip>
        }
      />
      <TextInput
        label={w.name}
        description={w.nameHint}
        placeholder={form.hostname}
        value={form.name}
        onChange={(event) => set({ name: event.currentTarget.value })}
        error={fieldError(error, 'name')}
        maxLength={100}
        autoComplete="off"
      />
      <NumberInput
        label={w.count}
        description={w.countHint}
        min={1}
        max={20}
        clampBehavior="strict"
        allowDecimal={false}
        value={form.count}
        onChange={(value) => set({ count: Number(value) || 1 })}
        error={fieldError(error, 'count')}
      />
    </div>
    {form.count > 1 && form.hostname !== '' && <Preview form={form} />}
    {form.count === 1 && hostnames.includes(form.hostname) && <p className="muted">{w.hostnameTaken(form.hostname)}</p>}
  </Stack>
)

const Preview = ({ form }: { form: VmForm }) => (
  <div className={css['preview']}>
    <span className="muted">{w.preview}</span>
    <ul>
      {namesOf(form).map(({ hostname, name }) => (
        <li key={hostname}>
          <code>{hostname}</code>
          {name !== hostname && <span className="muted"> {name}</span>}
        </li>
      ))}
    </ul>
  </div>
)
