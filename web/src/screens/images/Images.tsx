import { Textarea } from '@mantine/core'
import type { Image, Query, VmListItem } from '@berth/sdk'
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { berth } from '../../api/berth.ts'
import { useWrite } from '../../api/client.ts'
import { fieldError } from '../../api/errors.ts'
import { useCurrency } from '../../api/session.ts'
import { commonMessages, imageMessages as w, listMessages } from '../../words/words.ts'
import { imagesQuery, isBootable } from '../../queries/images.ts'
import { vmChoicesQuery } from '../../queries/vms.ts'
import { ConfirmDialog, Dialog } from '../../ui/Dialogs.tsx'
import { ErrorAlert, Form } from '../../ui/Form.tsx'
import { formatBytes, formatDate, formatDisk, formatMoney } from '../../ui/format.ts'
import { Stack } from '../../ui/Page.tsx'
import { useListQuery } from '../../ui/list-query.ts'
import { RenameDialog } from '../../ui/Rename.tsx'
import { StatusBadge, statusName } from '../../ui/Status.tsx'
import { BulkDelete } from '../../ui/BulkDelete.tsx'
import { createdColumn, ListPage, nameFilters, rowActions } from '../../ui/ListPage.tsx'
import { FilterSelect } from '../../ui/ListTools.tsx'
import type { Column } from '../../ui/Table.tsx'
import { CreateImage } from './CreateImage.tsx'
import { labelLines, readLabels } from './labels.ts'

type Open = { what: 'create' } | { what: 'rename' | 'labels' | 'delete'; image: Image } | { what: 'delete all'; images: Image[] } | null

type ImageSort = NonNullable<Query<'listImages'>['sort']>

const STATUSES = (['CREATING', 'AVAILABLE', 'FAILED', 'DELETING'] as const).map((status): [string, string] => [status, statusName(status)])

const FILTERS = nameFilters(
  <>
    <FilterSelect name="kind" label={w.kind} all={w.allKinds} choices={Object.entries(w.kinds)} />
    <FilterSelect name="status" label={listMessages.status} all={listMessages.allStatuses} choices={STATUSES} />
  </>,
  'kind',
  'status',
)

export default function Images() {
  const [open, setOpen] = useState<Open>(null)
  const close = (): void => setOpen(null)
  const navigate = useNavigate()
  const { search, matching, page } = useListQuery<ImageSort>()
  const query = { ...matching, kind: search.kind as Image['kind'] | undefined, status: search.status as Image['status'] | undefined }
  const currency = useCurrency()
  const vms = useQuery(vmChoicesQuery).data?.items ?? []
  const images = useQuery(imagesQuery({ ...query, ...page }))
  const protect = useWrite(({ id, isProtected }: Image) => berth.images.update(id, { isProtected: !isProtected }), {
    invalidates: ['images'],
    successMessage: ({ name }) => w.changed(name),
  })
  const columns: Column<Image>[] = [
    {
      head: w.name,
      sort: 'name',
      text: ({ name }) => name,
      truncate: (image) => [`${image.name}: ${sourceOf(image, vms)}`, ...labelLines(image.labels)].join('\n'),
      cell: (image) => <Named image={image} source={sourceOf(image, vms)} />,
    },
    { head: w.kind, sort: 'kind', optional: 'shown', text: ({ kind }) => w.kinds[kind], cell: ({ kind }) => w.kinds[kind] },
    { head: w.status, sort: 'status', text: ({ status }) => statusName(status), cell: (image) => <ImageStatus image={image} /> },
    { head: w.size, sort: 'size', optional: 'shown', text: ({ size }) => size, cell: (image) => <Size image={image} />, right: true },
    {
      head: w.price,
      sort: 'priceMonthly',
      optional: 'shown',
      text: ({ billing }) => billing?.priceMonthly ?? '',
      cell: ({ billing }) => (billing ? formatMoney(billing.priceMonthly, currency) : commonMessages.unknown),
      right: true,
    },
    createdColumn('shown'),
    rowActions((image) => {
      const isDeleting = image.status === 'DELETING'
      return [
        {
          label: w.newVm,
          onClick: () => void navigate({ to: '/vms/new', search: { image: image.id } }),
          disabled: !isBootable(image),
        },
        { label: commonMessages.rename, onClick: () => setOpen({ what: 'rename', image }), disabled: isDeleting },
        { label: w.editLabels, onClick: () => setOpen({ what: 'labels', image }), disabled: isDeleting },
        { label: image.isProtected ? w.unprotect : w.protect, onClick: () => protect.mutate(image), disabled: isDeleting },
        { label: w.delete, onClick: () => setOpen({ what: 'delete', image }), danger: true, disabled: isDeleting },
      ]
    }),
  ]
  return (
    <ListPage
      words={w}
      icon="box"
      list="images"
      create={{ label: w.create, onClick: () => setOpen({ what: 'create' }) }}
      of={images}
      columns={columns}
      filters={FILTERS}
      isSortedByApi
      all={() => berth.images.list(query)}
      bulk={(rows) => [{ label: w.bulk.delete, icon: 'trash', danger: true, onClick: () => setOpen({ what: 'delete all', images: rows }) }]}
    >
      {open?.what === 'create' && <CreateImage onClose={close} />}
      {open?.what === 'rename' && (
        <RenameDialog
          title={w.rename(open.image.name)}
          name={open.image.name}
          write={(name) => berth.images.update(open.image.id, { name })}
          invalidates="images"
          onClose={close}
        />
      )}
      {open?.what === 'labels' && <EditLabels image={open.image} onClose={close} />}
      {open?.what === 'delete' && <DeleteImage image={open.image} onClose={close} />}
      {open?.what === 'delete all' && (
        <BulkDelete
          rows={open.images}
          words={{ title: w.bulk.title, about: w.bulk.about, submit: w.bulk.delete }}
          confirm={w.bulk.count(open.images.length)}
          obstacleOf={({ name, isProtected }) => (isProtected ? w.deleteProtected(name) : null)}
          quote={({ id }, signal) => berth.images.quoteDelete(id, { signal })}
          remove={({ id }) => berth.images.delete(id)}
          invalidates={['images', 'limits', 'wallet']}
          onClose={close}
        />
      )}
    </ListPage>
  )
}

/** Of a deleted VM no name is left. */
function sourceOf({ source: { type, url, vmId } }: Image, vms: VmListItem[]): string {
  if (url !== null) return w.importedFrom(url)
  const vm = vms.find(({ id }) => id === vmId)
  return vm ? w.fromVm[type](vm.name) : w.from[type]
}

const Named = ({ image, source }: { image: Image; source: string }) => (
  <div>
    <strong>{image.name}</strong>
    <div className="muted">{source}</div>
    <div className="muted">{labelLines(image.labels).join(', ')}</div>
    {image.isProtected && <div className="muted">{w.isProtected}</div>}
  </div>
)

const ImageStatus = ({ image: { status, error, lockedUntil, billing } }: { image: Image }) => (
  <div>
    <StatusBadge status={status} />
    {error && (
      <div className="muted" data-wrap>
        {error}
      </div>
    )}
    {lockedUntil && (
      <div className="muted" data-wrap>
        {w.lockedUntil(formatDate(lockedUntil))}
      </div>
    )}
    {billing && billing.status !== 'ACTIVE' && (
      <div>
        <StatusBadge status={billing.status} />
      </div>
    )}
  </div>
)

/** Nothing is known of it before it is made. */
const Size = ({ image: { status, size, disk } }: { image: Image }) =>
  status === 'AVAILABLE' ? (
    <div>
      {formatBytes(size)}
      {disk !== null && <div className="muted">{w.needsDisk(formatDisk(disk))}</div>}
    </div>
  ) : (
    commonMessages.unknown
  )

interface ImageProps {
  image: Image
  onClose: () => void
}

function EditLabels({ image, onClose }: ImageProps) {
  const [text, setText] = useState(labelLines(image.labels).join('\n'))
  const write = useWrite(() => berth.images.update(image.id, { labels: readLabels(text) }), {
    inForm: true,
    invalidates: ['images'],
    successMessage: w.changed(image.name),
    onDone: onClose,
  })
  return (
    <Dialog title={w.labelsOf(image.name)} onClose={onClose}>
      <Form onSubmit={() => write.mutate()} busy={write.isPending} error={write.error} submit={commonMessages.save} onCancel={onClose}>
        <Textarea
          label={w.labels}
          description={w.labelsHint}
          value={text}
          onChange={(event) => setText(event.currentTarget.value)}
          error={fieldError(write.error, 'labels')}
          spellCheck={false}
          rows={5}
          data-autofocus
        />
      </Form>
    </Dialog>
  )
}

/** A dry run says what is refunded, or what the image is needed for. */
function DeleteImage({ image, onClose }: ImageProps) {
  const quote = useQuery({
    queryKey: ['quote', image.id, 'delete'],
    queryFn: ({ signal }) => berth.images.quoteDelete(image.id, { signal }),
    enabled: !image.isProtected,
    gcTime: 0, // a reopened dialog asks again
  })
  const write = useWrite(() => berth.images.delete(image.id), {
    inForm: true,
    invalidates: ['images', 'limits', 'wallet'],
    successMessage: w.deleted(image.name),
  })
  return (
    <ConfirmDialog title={w.deleteTitle(image.name)} submit={w.delete} write={write} onClose={onClose} disabled={!quote.data}>
      <Stack gap={14}>
        <p>
          {image.isProtected ? w.deleteProtected(image.name) : w.deleteAbout}{' '}
          {quote.data && w.refund(formatMoney(quote.data.charge.replace('-', ''), quote.data.currency))}
        </p>
        <ErrorAlert error={quote.error} />
      </Stack>
    </ConfirmDialog>
  )
}
