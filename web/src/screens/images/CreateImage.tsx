import { Checkbox, NativeSelect, Textarea, TextInput } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import type { Quote } from '@berth/sdk'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { berth } from '../../api/berth.ts'
import { useWrite } from '../../api/client.ts'
import { fieldError } from '../../api/errors.ts'
import { imageMessages as w, vmsMessages } from '../../words/words.ts'
import { backupsQuery, snapshotsQuery, vmChoicesQuery } from '../../queries/vms.ts'
import { Dialog } from '../../ui/Dialogs.tsx'
import { Form } from '../../ui/Form.tsx'
import { formatMoney } from '../../ui/format.ts'
import { TextLink } from '../../ui/links.tsx'
import { readLabels } from './labels.ts'
import { NO_SOURCE, toSource, type Source, type SourceForm } from './source.ts'

interface Props {
  /** What it is made of, where that is not chosen here. */
  of?: { name: string; source: Source }
  onClose: () => void
}

/** Shows what the image costs at most, from a dry run, before anything is made. */
export function CreateImage({ of, onClose }: Props) {
  const [name, setName] = useState('')
  const [labels, setLabels] = useState('')
  const [form, setForm] = useState(NO_SOURCE)
  const source = of?.source ?? toSource(form)
  const wanted = JSON.stringify(source)
  const [asked] = useDebouncedValue(wanted, 300)
  const isSettled = asked === wanted
  const quote = useQuery({
    queryKey: ['quote', 'image', asked],
    queryFn: ({ signal }) => berth.images.quoteCreate({ name: w.create, ...source }, { signal, maxRetries: 1 }),
    enabled: isSettled && source !== null,
    gcTime: 0, // a reopened dialog gets a fresh price
  })
  const price = isSettled ? quote.data : undefined
  const create = useWrite(() => berth.images.create({ name, ...source, ...(labels.trim() && { labels: readLabels(labels) }) }), {
    inForm: true,
    invalidates: ['images', 'vm', 'vms', 'actions', 'limits', 'wallet'],
    successMessage: ({ image }) => w.createdAs(image.name),
    onDone: onClose,
  })
  const problem = create.error ?? (isSettled ? quote.error : null)
  return (
    <Dialog title={of ? w.makeOf(of.name) : w.create} onClose={onClose}>
      <Form
        onSubmit={() => create.mutate()}
        busy={create.isPending}
        error={problem}
        submit={of ? w.make : w.create}
        onCancel={onClose}
        disabled={!price}
      >
        <TextInput
          label={w.name}
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
          error={fieldError(create.error, 'name')}
          maxLength={100}
          data-autofocus
        />
        {!of && <SourceFields form={form} set={(change) => setForm((now) => ({ ...now, ...change }))} error={problem} />}
        <Textarea
          label={w.labels}
          description={w.labelsHint}
          value={labels}
          onChange={(event) => setLabels(event.currentTarget.value)}
          error={fieldError(create.error, 'labels')}
          spellCheck={false}
        />
        {source?.vmId !== undefined && <p className="muted">{w.busyVm}</p>}
        {price && <Price quote={price} isImport={source?.url !== undefined} />}
      </Form>
    </Dialog>
  )
}

/** The size of a file is not known before it is there. */
const Price = ({ quote: { monthly, balanceAfter, currency }, isImport }: { quote: Quote; isImport: boolean }) => (
  <p>
    {isImport
      ? w.priceOfImport(formatMoney(monthly, currency))
      : w.priceAtMost(formatMoney(monthly, currency), formatMoney(balanceAfter, currency))}
  </p>
)

interface FieldsProps {
  form: SourceForm
  set: (change: Partial<SourceForm>) => void
}

const SourceFields = ({ form, set, error }: FieldsProps & { error: unknown }) => (
  <>
    <NativeSelect
      label={w.source}
      value={form.type}
      onChange={(event) => set({ type: event.currentTarget.value as SourceForm['type'], copyId: '' })}
      data={Object.entries(w.sources).map(([value, label]) => ({ value, label }))}
    />
    {form.type === 'URL' ? <FileFields form={form} set={set} error={error} /> : <VmFields form={form} set={set} type={form.type} />}
  </>
)

/** A VM, and one of its snapshots or backups where the image is made from one. */
function VmFields({ form: { vmId, copyId }, set, type }: FieldsProps & { type: Exclude<SourceForm['type'], 'URL'> }) {
  const { data } = useQuery(vmChoicesQuery)
  const vms = data?.items ?? []
  const snapshots = useQuery({ ...snapshotsQuery(vmId), enabled: type === 'SNAPSHOT' && vmId !== '' })
  const backups = useQuery({ ...backupsQuery(vmId), enabled: type === 'BACKUP' && vmId !== '' })
  const all = (type === 'SNAPSHOT' ? snapshots : backups).data?.items
  const copies = all?.filter(({ status }) => status === 'AVAILABLE')
  if (data && vms.length === 0)
    return (
      <p className="muted">
        {w.noVms}{' '}
        <TextLink to="/vms/new" underline="always">
          {vmsMessages.create}
        </TextLink>
      </p>
    )
  return (
    <>
      <NativeSelect
        label={w.vm}
        value={vmId}
        onChange={(event) => set({ vmId: event.currentTarget.value, copyId: '' })}
        data={[{ value: '', label: w.choose }, ...vms.map(({ id, name }) => ({ value: id, label: name }))]}
      />
      {type !== 'VM' &&
        vmId !== '' &&
        (copies?.length === 0 ? (
          <p className="muted">
            {w.noCopies[type]}{' '}
            <TextLink to="/vms/$vmId" params={{ vmId }} search={{ tab: 'copies' }} underline="always">
              {w.makeCopy[type]}
            </TextLink>
          </p>
        ) : (
          <NativeSelect
            label={w.copy[type]}
            value={copyId}
            onChange={(event) => set({ copyId: event.currentTarget.value })}
            data={[{ value: '', label: w.choose }, ...(copies ?? []).map(({ id, name }) => ({ value: id, label: name }))]}
          />
        ))}
    </>
  )
}

const FileFields = ({ form, set, error }: FieldsProps & { error: unknown }) => (
  <>
    <TextInput
      label={w.url}
      description={w.urlHint}
      value={form.url}
      onChange={(event) => set({ url: event.currentTarget.value.trim() })}
      error={fieldError(error, 'url')}
      maxLength={2_000}
      autoComplete="off"
      spellCheck={false}
    />
    <TextInput
      label={w.checksum}
      description={w.checksumHint}
      value={form.checksum}
      onChange={(event) => set({ checksum: event.currentTarget.value.trim() })}
      error={fieldError(error, 'checksum')}
      maxLength={71}
      autoComplete="off"
      spellCheck={false}
    />
    <NativeSelect
      label={w.kind}
      description={form.kind === 'ISO' ? w.isoHint : undefined}
      value={form.kind}
      onChange={(event) => set({ kind: event.currentTarget.value as SourceForm['kind'] })}
      data={Object.entries(w.kinds).map(([value, label]) => ({ value, label }))}
    />
    {form.kind === 'DISK' && (
      <>
        <TextInput
          label={w.defaultUser}
          description={w.defaultUserHint}
          value={form.defaultUser}
          onChange={(event) => set({ defaultUser: event.currentTarget.value.trim() })}
          error={fieldError(error, 'defaultUser')}
          maxLength={32}
          autoComplete="off"
          spellCheck={false}
        />
        <Checkbox
          label={w.guestAgent}
          description={w.guestAgentHint}
          checked={form.guestAgent}
          onChange={(event) => set({ guestAgent: event.currentTarget.checked })}
        />
      </>
    )}
  </>
)
