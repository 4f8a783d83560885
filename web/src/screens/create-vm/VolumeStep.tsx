import { ActionIcon, Button, NativeSelect, NumberInput, TextInput } from '@mantine/core'
import type { Volume } from '@berth/sdk'
import { fieldError } from '../../api/errors.ts'
import { formatDisk } from '../../ui/format.ts'
import { Icon } from '../../ui/Icon.tsx'
import { Stack } from '../../ui/Page.tsx'
import { createVmMessages, volumeMessages } from '../../words/words.ts'
import { CheckboxList } from './CheckboxList.tsx'
import css from './create-vm.module.css'
import { MOST_VOLUMES, type NewVolume, type VmForm } from './vm-form.ts'

const w = createVmMessages.volumeStep

interface Props {
  form: VmForm
  set: (change: Partial<VmForm>) => void
  /** Those that no VM has. */
  volumes: Volume[]
  /** The slug of the chosen one: volumes of another cannot be attached. */
  region: string
  /** A month, of all new ones; null while that is not known. */
  price: string | null
  error: unknown
}

export function VolumeStep({ form, set, volumes, region, price, error }: Props) {
  const { newVolumes, volumeIds } = form
  const change = (index: number, part: Partial<NewVolume>): void =>
    set({ newVolumes: newVolumes.map((each, at) => (at === index ? { ...each, ...part } : each)) })
  const isFull = newVolumes.length + volumeIds.length >= MOST_VOLUMES
  return (
    <Stack gap={18}>
      {newVolumes.map((volume, index) => (
        // oxlint-disable-next-line react/no-array-index-key -- they have nothing else before they are made
        <fieldset key={index} className={css['volume']}>
          <legend className="hidden">{w.newVolume(index + 1)}</legend>
          <TextInput
            label={volumeMessages.name}
            value={volume.name}
            onChange={(event) => change(index, { name: event.currentTarget.value })}
            error={fieldError(error, `volumes.${index}.name`)}
            maxLength={100}
          />
          <NumberInput
            label={volumeMessages.sizeGiB}
            value={volume.sizeGiB}
            onChange={(size) => change(index, { sizeGiB: Number(size) })}
            min={1}
            max={16_384}
            allowDecimal={false}
            allowNegative={false}
            error={fieldError(error, `volumes.${index}.sizeGiB`)}
          />
          <NativeSelect
            label={volumeMessages.storage}
            value={volume.storage}
            onChange={(event) => change(index, { storage: event.currentTarget.value as NewVolume['storage'] })}
            data={[{ value: '', label: volumeMessages.anyStorage }, ...STORAGES]}
            error={fieldError(error, `volumes.${index}.storage`)}
          />
          <ActionIcon
            variant="subtle"
            color="gray"
            size={36}
            aria-label={w.remove(volume.name)}
            title={w.remove(volume.name)}
            onClick={() => set({ newVolumes: newVolumes.filter((_, at) => at !== index) })}
          >
            <Icon name="trash" size={16} />
          </ActionIcon>
        </fieldset>
      ))}
      <div className={css['volumeFoot']}>
        <Button
          variant="default"
          leftSection={<Icon name="plus" size={16} />}
          disabled={isFull}
          onClick={() => set({ newVolumes: [...newVolumes, { name: nextName(newVolumes), sizeGiB: 10, storage: '' }] })}
        >
          {w.add}
        </Button>
        {newVolumes.length > 0 && price !== null && <span>{w.price(price)}</span>}
      </div>
      {volumes.length > 0 && (
        <CheckboxList
          label={w.existing}
          none=""
          items={volumes.map(({ id, name, sizeGiB, storage, region: of }) => ({
            id,
            name,
            about:
              of.slug === region ? `${formatDisk(sizeGiB)}, ${volumeMessages.storages[storage]}` : createVmMessages.otherRegion(of.name),
            isOff: of.slug !== region || form.count > 1 || isFull,
          }))}
          value={volumeIds}
          onChange={(ids) => set({ volumeIds: ids })}
          error={undefined}
        />
      )}
      {form.count > 1 && <p className="muted">{volumes.length > 0 ? w.severalFree : w.several}</p>}
    </Stack>
  )
}

const STORAGES = Object.entries(volumeMessages.storageChoices).map(([value, label]) => ({ value, label }))

/** data, data-2, data-3 … */
function nextName(volumes: NewVolume[]): string {
  const taken = new Set(volumes.map(({ name }) => name))
  for (let number = 1; ; number++) {
    const name = number === 1 ? 'data' : `data-${number}`
    if (!taken.has(name)) return name
  }
}
