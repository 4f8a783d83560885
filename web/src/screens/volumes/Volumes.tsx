import { NativeSelect, NumberInput, TextInput } from '@mantine/core'
import type { Query, Volume, VmListItem } from '@berth/sdk'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { berth } from '../../api/berth.ts'
import { useWrite } from '../../api/client.ts'
import { fieldError } from '../../api/errors.ts'
import { useCurrency } from '../../api/session.ts'
import { LabelChips, LabelsDialog } from '../../ui/Labels.tsx'
import { commonMessages, labelMessages, listMessages, volumeMessages as w } from '../../words/words.ts'
import { regionsQuery } from '../../queries/catalog.ts'
import { vmChoicesQuery, volumesQuery } from '../../queries/vms.ts'
import { ChooseVmDialog } from '../../ui/ChooseVm.tsx'
import { Code, Copyable } from '../../ui/CopyButton.tsx'
import { ConfirmDialog, Dialog } from '../../ui/Dialogs.tsx'
import { Form } from '../../ui/Form.tsx'
import { formatDisk, formatMoney } from '../../ui/format.ts'
import { MonthlyPrice } from '../../ui/MonthlyPrice.tsx'
import { TextLink } from '../../ui/links.tsx'
import { Stack } from '../../ui/Page.tsx'
import { useListQuery } from '../../ui/list-query.ts'
import { RenameDialog } from '../../ui/Rename.tsx'
import { StatusBadge, statusName } from '../../ui/Status.tsx'
import { BulkDelete } from '../../ui/BulkDelete.tsx'
import { createdColumn, ListPage, nameFilters, rowActions } from '../../ui/ListPage.tsx'
import { FilterSelect, RegionFilter } from '../../ui/ListTools.tsx'
import type { Column } from '../../ui/Table.tsx'
import { VolumeSnapshots } from './VolumeSnapshots.tsx'

const STATUSES = (['AVAILABLE', 'ATTACHING', 'ATTACHED', 'DETACHING'] as const).map((status): [string, string] => [
  status,
  statusName(status),
])

type Open =
  | { what: 'create' }
  | { what: 'use' | 'rename' | 'attach' | 'detach' | 'grow' | 'labels' | 'snapshots' | 'delete'; volume: Volume }
  | { what: 'delete all'; volumes: Volume[] }
  | null

type VolumeSort = NonNullable<Query<'listVolumes'>['sort']>

const FILTERS = nameFilters(
  <>
    <FilterSelect name="status" label={listMessages.status} all={listMessages.allStatuses} choices={STATUSES} />
    <RegionFilter />
  </>,
  'status',
  'region',
)

const MAX_GIB = 16_384

export default function Volumes() {
  const [open, setOpen] = useState<Open>(null)
  const close = (): void => setOpen(null)
  const { search, matching, page } = useListQuery<VolumeSort>()
  const query = { ...matching, regionId: search.region, status: search.status as Volume['status'] | undefined }
  const currency = useCurrency()
  const volumes = useQuery(volumesQuery({ ...query, ...page }))
  const vms = useQuery(vmChoicesQuery).data?.items ?? []
  const nameOf = (vmId: string): string => vms.find(({ id }) => id === vmId)?.name ?? vmId
  const latest = (volume: Volume): Volume => volumes.data?.items.find(({ id }) => id === volume.id) ?? volume
  const protect = useWrite(({ id, isProtected }: Volume) => berth.volumes.update(id, { isProtected: !isProtected }), {
    invalidates: ['volumes'],
    successMessage: ({ name }) => w.protected(name),
  })
  const columns: Column<Volume>[] = [
    {
      head: w.name,
      sort: 'name',
      text: ({ name }) => name,
      truncate: ({ name, isProtected }) => (isProtected ? `${name}: ${w.isProtected}` : name),
      cell: ({ name, isProtected, labels }) => (
        <div>
          <strong>{name}</strong>
          {isProtected && <div className="muted">{w.isProtected}</div>}
          <LabelChips labels={labels} />
        </div>
      ),
    },
    {
      head: w.size,
      sort: 'sizeGiB',
      text: ({ sizeGiB }) => String(sizeGiB),
      cell: ({ sizeGiB }) => formatDisk(sizeGiB),
      right: true,
    },
    {
      head: w.region,
      sort: 'region',
      optional: 'shown',
      text: ({ region }) => region.name,
      cell: ({ region, storage }) => (
        <div>
          {region.name}
          <div className="muted">{w.storages[storage]}</div>
        </div>
      ),
    },
    {
      head: w.status,
      sort: 'status',
      optional: 'shown',
      text: ({ status }) => statusName(status),
      cell: ({ status }) => <StatusBadge status={status} />,
    },
    {
      head: w.vm,
      text: ({ vmId }) => (vmId === null ? '' : nameOf(vmId)),
      truncate: ({ vmId }) => (vmId === null ? w.detached : nameOf(vmId)),
      cell: ({ vmId }) =>
        vmId === null ? (
          w.detached
        ) : (
          <div>
            <TextLink to="/vms/$vmId" params={{ vmId }}>
              {nameOf(vmId)}
            </TextLink>
          </div>
        ),
    },
    {
      head: w.price,
      sort: 'priceMonthly',
      optional: 'shown',
      text: ({ billing }) => billing.priceMonthly,
      right: true,
      cell: ({ billing }) => <MonthlyPrice billing={billing} currency={currency} />,
    },
    createdColumn(),
    rowActions((volume) => [
      { label: w.use, onClick: () => setOpen({ what: 'use', volume }) },
      volume.vmId === null
        ? { label: w.attach, onClick: () => setOpen({ what: 'attach', volume }) }
        : { label: w.detach, onClick: () => setOpen({ what: 'detach', volume }) },
      { label: w.grow, onClick: () => setOpen({ what: 'grow', volume }) },
      { label: w.snapshots.menu, onClick: () => setOpen({ what: 'snapshots', volume }) },
      { label: commonMessages.rename, onClick: () => setOpen({ what: 'rename', volume }) },
      { label: labelMessages.edit, onClick: () => setOpen({ what: 'labels', volume }) },
      { label: volume.isProtected ? w.unprotect : w.protect, onClick: () => protect.mutate(volume) },
      { label: w.delete, onClick: () => setOpen({ what: 'delete', volume }), danger: true },
    ]),
  ]
  return (
    <ListPage
      words={w}
      icon="disk"
      list="volumes"
      create={{ label: w.create, onClick: () => setOpen({ what: 'create' }) }}
      of={volumes}
      columns={columns}
      filters={FILTERS}
      isSortedByApi
      all={() => berth.volumes.list(query)}
      bulk={(rows) => [
        { label: w.bulk.delete, icon: 'trash', danger: true, onClick: () => setOpen({ what: 'delete all', volumes: rows }) },
      ]}
    >
      {open?.what === 'create' && <CreateVolume vms={vms} onClose={close} />}
      {open?.what === 'labels' && (
        <LabelsDialog
          name={open.volume.name}
          labels={open.volume.labels}
          write={(labels) => berth.volumes.update(open.volume.id, { labels })}
          invalidates={['volumes']}
          onClose={close}
        />
      )}
      {open?.what === 'rename' && (
        <RenameDialog
          title={w.rename(open.volume.name)}
          name={open.volume.name}
          write={(name) => berth.volumes.update(open.volume.id, { name })}
          invalidates="volumes"
          onClose={close}
        />
      )}
      {open?.what === 'use' && <UseVolume volume={open.volume} onClose={close} />}
      {open?.what === 'attach' && <AttachVolume volume={open.volume} vms={vms} onClose={close} />}
      {open?.what === 'detach' && <DetachVolume volume={open.volume} onClose={close} />}
      {open?.what === 'grow' && <GrowVolume volume={open.volume} onClose={close} />}
      {open?.what === 'snapshots' && <VolumeSnapshots volume={latest(open.volume)} onClose={close} />}
      {open?.what === 'delete' && <DeleteVolume volume={open.volume} onClose={close} />}
      {open?.what === 'delete all' && (
        <BulkDelete
          rows={open.volumes}
          words={{ title: w.bulk.title, about: w.bulk.about, submit: w.bulk.delete }}
          confirm={w.bulk.count(open.volumes.length)}
          obstacleOf={obstacleOf}
          quote={({ id }, signal) => berth.volumes.quoteDelete(id, { signal })}
          remove={({ id }) => berth.volumes.delete(id)}
          invalidates={PAID}
          onClose={close}
        />
      )}
    </ListPage>
  )
}

const MOVED = ['volumes', 'actions']
const PAID = ['volumes', 'actions', 'limits', 'wallet']

interface SizeProps {
  value: number
  min: number
  onChange: (size: number) => void
  error: string | undefined
}

const Size = ({ value, min, onChange, error }: SizeProps) => (
  <NumberInput
    label={w.sizeGiB}
    value={value}
    onChange={(next) => onChange(Number(next))}
    min={min}
    max={MAX_GIB}
    allowDecimal={false}
    allowNegative={false}
    error={error}
  />
)

function CreateVolume({ vms, onClose }: { vms: VmListItem[]; onClose: () => void }) {
  const regions = useQuery(regionsQuery).data ?? []
  const [region, setRegion] = useState('')
  const [name, setName] = useState('')
  const [sizeGiB, setSize] = useState(10)
  const [vmId, setVm] = useState('')
  const [storage, setStorage] = useState<Volume['storage'] | ''>('')
  const regionId = region || (regions[0]?.id ?? '')
  const slug = regions.find(({ id }) => id === regionId)?.slug
  const choices = vms.filter((vm) => vm.region.slug === slug)
  const order = { name, sizeGiB, regionId, ...(vmId !== '' && { vmId }), ...(storage !== '' && { storage }) }
  const isComplete = regionId !== '' && sizeGiB >= 1
  const quote = useQuery({
    queryKey: ['volumes', 'quote', regionId, sizeGiB, vmId, storage],
    queryFn: ({ signal }) => berth.volumes.quoteCreate({ ...order, name: name || '-' }, { signal }),
    enabled: isComplete,
  })
  const create = useWrite(() => berth.volumes.create(order), {
    inForm: true,
    invalidates: PAID,
    successMessage: (made) => w.created(made.name),
    onDone: onClose,
  })
  const problem = create.error ?? quote.error
  /** A refusal is about what was sent: it does not stay beside another choice. */
  const change = (apply: () => void): void => {
    if (create.isError) create.reset()
    apply()
  }
  return (
    <Dialog title={w.create} onClose={onClose}>
      <Form
        onSubmit={() => create.mutate()}
        busy={create.isPending}
        error={problem}
        submit={w.create}
        onCancel={onClose}
        disabled={!isComplete}
      >
        <TextInput
          label={w.name}
          value={name}
          onChange={({ currentTarget: { value } }) => change(() => setName(value))}
          error={fieldError(problem, 'name')}
          maxLength={100}
          data-autofocus
        />
        <Size value={sizeGiB} min={1} onChange={(size) => change(() => setSize(size))} error={fieldError(problem, 'sizeGiB')} />
        <NativeSelect
          label={w.region}
          value={regionId}
          onChange={({ currentTarget: { value } }) =>
            change(() => {
              setRegion(value)
              setVm('')
            })
          }
          data={regions.map(({ id, name: label }) => ({ value: id, label }))}
          error={fieldError(problem, 'regionId')}
        />
        <NativeSelect
          label={w.vm}
          value={vmId}
          onChange={({ currentTarget: { value } }) => change(() => setVm(value))}
          data={[{ value: '', label: w.noVm }, ...choices.map((vm) => ({ value: vm.id, label: vm.name }))]}
          error={fieldError(problem, 'vmId')}
        />
        <NativeSelect
          label={w.storage}
          description={w.storageAbout(storage, choices.find(({ id }) => id === vmId)?.name)}
          value={storage}
          onChange={({ currentTarget: { value } }) => change(() => setStorage(value as typeof storage))}
          data={[{ value: '', label: w.anyStorage }, ...Object.entries(w.storageChoices).map(([value, label]) => ({ value, label }))]}
          error={fieldError(problem, 'storage')}
        />
        {quote.data && <div>{w.createAbout(formatMoney(quote.data.charge, quote.data.currency))}</div>}
      </Form>
    </Dialog>
  )
}

interface VolumeProps {
  volume: Volume
  onClose: () => void
}

const AttachVolume = ({ volume, vms, onClose }: VolumeProps & { vms: VmListItem[] }) => (
  <ChooseVmDialog
    title={w.attachTitle(volume.name)}
    submit={w.attach}
    about={volume.storage === 'LOCAL' ? w.attachLocal : undefined}
    choices={vms.filter(({ region }) => region.slug === volume.region.slug)}
    write={(vmId) => berth.volumes.attach(volume.id, { vmId })}
    invalidates={MOVED}
    successMessage={w.attaching(volume.name)}
    onClose={onClose}
  />
)

/** What a Linux guest does with it: the path is the same on every VM. */
const UseVolume = ({ volume: { name, devicePath }, onClose }: VolumeProps) => (
  <Dialog title={w.useTitle(name)} onClose={onClose} size="lg">
    <Stack gap={14}>
      <Copyable text={devicePath} what={w.device} />
      {w.guestCommands(devicePath).map(([about, text]) => (
        <div key={about}>
          <p>{about}</p>
          <Code text={text} what={about} />
        </div>
      ))}
    </Stack>
  </Dialog>
)

function GrowVolume({ volume, onClose }: VolumeProps) {
  const [sizeGiB, setSize] = useState(volume.sizeGiB + 10)
  const isLarger = sizeGiB > volume.sizeGiB
  const quote = useQuery({
    queryKey: ['volumes', 'quote', volume.id, sizeGiB],
    queryFn: ({ signal }) => berth.volumes.quoteUpdate(volume.id, { sizeGiB }, { signal }),
    enabled: isLarger,
  })
  const grow = useWrite(() => berth.volumes.update(volume.id, { sizeGiB }), {
    inForm: true,
    invalidates: PAID,
    successMessage: w.grown(volume.name),
    onDone: onClose,
  })
  const problem = grow.error ?? quote.error
  const change = (size: number): void => {
    if (grow.isError) grow.reset()
    setSize(size)
  }
  return (
    <Dialog title={w.growTitle(volume.name)} onClose={onClose}>
      <Form onSubmit={() => grow.mutate()} busy={grow.isPending} error={problem} submit={w.grow} onCancel={onClose} disabled={!isLarger}>
        <Size value={sizeGiB} min={volume.sizeGiB + 1} onChange={change} error={fieldError(problem, 'sizeGiB')} />
        {!isLarger && <div>{w.growOnly(formatDisk(volume.sizeGiB))}</div>}
        {quote.data && <div>{w.growAbout(formatMoney(quote.data.charge, quote.data.currency))}</div>}
      </Form>
    </Dialog>
  )
}

function DetachVolume({ volume, onClose }: VolumeProps) {
  const write = useWrite(() => berth.volumes.detach(volume.id), {
    inForm: true,
    invalidates: MOVED,
    successMessage: w.detaching(volume.name),
  })
  return (
    <ConfirmDialog title={w.detachTitle} submit={w.detach} write={write} onClose={onClose}>
      {w.detachAbout(volume.name)}
    </ConfirmDialog>
  )
}

const obstacleOf = ({ vmId, isProtected, name }: Volume): string | null =>
  vmId !== null ? w.deleteAttached(name) : isProtected ? w.deleteProtected(name) : null

function DeleteVolume({ volume, onClose }: VolumeProps) {
  const write = useWrite(() => berth.volumes.delete(volume.id), {
    inForm: true,
    invalidates: PAID,
    successMessage: w.deleted(volume.name),
  })
  const obstacle = obstacleOf(volume)
  return (
    <ConfirmDialog title={w.deleteTitle} submit={w.delete} write={write} onClose={onClose} disabled={obstacle !== null}>
      {obstacle ?? w.deleteAbout(volume.name)}
    </ConfirmDialog>
  )
}
