import { NativeSelect, TextInput } from '@mantine/core'
import type { Address, Query, VmListItem } from '@berth/sdk'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { berth } from '../../api/berth.ts'
import { useWrite } from '../../api/client.ts'
import { fieldError } from '../../api/errors.ts'
import { useCurrency } from '../../api/session.ts'
import { regionsQuery } from '../../queries/catalog.ts'
import { addressesQuery } from '../../queries/network.ts'
import { vmChoicesQuery } from '../../queries/vms.ts'
import { LabelChips, LabelsDialog } from '../../ui/Labels.tsx'
import { addressMessages as w, commonMessages, labelMessages, reverseNameMessages } from '../../words/words.ts'
import { ChooseVmDialog } from '../../ui/ChooseVm.tsx'
import { Copyable } from '../../ui/CopyButton.tsx'
import { ConfirmDialog, Dialog } from '../../ui/Dialogs.tsx'
import { Form } from '../../ui/Form.tsx'
import { formatMoney } from '../../ui/format.ts'
import { MonthlyPrice } from '../../ui/MonthlyPrice.tsx'
import { TextLink } from '../../ui/links.tsx'
import { useListQuery } from '../../ui/list-query.ts'
import { RenameDialog } from '../../ui/Rename.tsx'
import { ReverseName, ReverseNameDialog } from '../../ui/ReverseName.tsx'
import { Status, toneOf } from '../../ui/Status.tsx'
import { BulkDelete } from '../../ui/BulkDelete.tsx'
import { createdColumn, ListPage, nameFilters, rowActions } from '../../ui/ListPage.tsx'
import { RegionFilter } from '../../ui/ListTools.tsx'
import type { Column } from '../../ui/Table.tsx'

type Open =
  | { what: 'reserve' }
  | { what: 'rename' | 'labels' | 'reverse' | 'assign' | 'unassign' | 'release'; address: Address }
  | { what: 'release all'; addresses: Address[] }
  | null

type AddressSort = NonNullable<Query<'listAddresses'>['sort']>

const FILTERS = nameFilters(<RegionFilter />, 'region')

export default function Addresses() {
  const [open, setOpen] = useState<Open>(null)
  const close = (): void => setOpen(null)
  const { search, matching, page } = useListQuery<AddressSort>()
  const query = { ...matching, regionId: search.region }
  const currency = useCurrency()
  const addresses = useQuery(addressesQuery({ ...query, ...page }))
  const vms = useQuery(vmChoicesQuery).data?.items ?? []
  const nameOf = (vmId: string): string => vms.find(({ id }) => id === vmId)?.name ?? vmId
  const columns: Column<Address>[] = [
    {
      head: w.address,
      sort: 'address',
      text: ({ address }) => address,
      cell: ({ address }) => <Copyable text={address} what={w.address} />,
    },
    {
      head: w.name,
      sort: 'name',
      optional: 'shown',
      text: ({ name }) => name,
      truncate: ({ name }) => name,
      cell: ({ name, region, labels }) => (
        <div>
          <span>{name}</span>
          <div className="muted">{region.name}</div>
          <LabelChips labels={labels} />
        </div>
      ),
    },
    {
      head: reverseNameMessages.title,
      optional: 'shown',
      text: ({ reverseName }) => reverseName ?? '',
      truncate: ({ reverseName }) => reverseName ?? reverseNameMessages.none,
      cell: ({ reverseName, reverseNameState, reverseNameReason }) => (
        <ReverseName name={reverseName} state={reverseNameState} reason={reverseNameReason} />
      ),
    },
    {
      head: w.vm,
      text: ({ vmId }) => (vmId === null ? '' : nameOf(vmId)),
      truncate: ({ vmId }) => (vmId === null ? w.unassigned : nameOf(vmId)),
      cell: ({ vmId }) =>
        vmId === null ? (
          w.unassigned
        ) : (
          <div>
            <TextLink to="/vms/$vmId" params={{ vmId }}>
              {nameOf(vmId)}
            </TextLink>
          </div>
        ),
    },
    {
      head: w.guest,
      optional: 'shown',
      cell: ({ guestState, guestReason }) =>
        guestState === null ? (
          commonMessages.none
        ) : (
          <span title={guestReason ?? undefined}>
            <Status tone={toneOf(guestState)}>{w.guestStates[guestState]}</Status>
          </span>
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
    {
      head: w.region,
      sort: 'region',
      optional: 'hidden',
      text: ({ region }) => region.name,
      cell: ({ region }) => region.name,
    },
    createdColumn(),
    rowActions((address) => [
      { label: w.assign, onClick: () => setOpen({ what: 'assign', address }) },
      ...(address.vmId === null ? [] : [{ label: w.unassign, onClick: () => setOpen({ what: 'unassign', address }) }]),
      { label: commonMessages.rename, onClick: () => setOpen({ what: 'rename', address }) },
      { label: labelMessages.edit, onClick: () => setOpen({ what: 'labels', address }) },
      { label: reverseNameMessages.set, onClick: () => setOpen({ what: 'reverse', address }) },
      { label: w.release, onClick: () => setOpen({ what: 'release', address }), danger: true },
    ]),
  ]
  return (
    <ListPage
      words={w}
      icon="pin"
      list="addresses"
      create={{ label: w.reserve, onClick: () => setOpen({ what: 'reserve' }) }}
      of={addresses}
      columns={columns}
      filters={FILTERS}
      isSortedByApi
      all={() => berth.addresses.list(query)}
      bulk={(rows) => [
        { label: w.bulk.release, icon: 'trash', danger: true, onClick: () => setOpen({ what: 'release all', addresses: rows }) },
      ]}
    >
      {open?.what === 'reserve' && <ReserveAddress onClose={close} />}
      {open?.what === 'labels' && (
        <LabelsDialog
          name={open.address.name}
          labels={open.address.labels}
          write={(labels) => berth.addresses.update(open.address.id, { labels })}
          invalidates={['addresses']}
          onClose={close}
        />
      )}
      {open?.what === 'rename' && (
        <RenameDialog
          title={w.rename(open.address.name)}
          name={open.address.name}
          write={(name) => berth.addresses.update(open.address.id, { name })}
          invalidates="addresses"
          onClose={close}
        />
      )}
      {open?.what === 'reverse' && (
        <ReverseNameDialog
          address={open.address.address}
          name={open.address.reverseName}
          field="reverseName"
          write={(reverseName) => berth.addresses.update(open.address.id, { reverseName })}
          invalidates="addresses"
          onClose={close}
        />
      )}
      {open?.what === 'assign' && <AssignAddress address={open.address} vms={vms} nameOf={nameOf} onClose={close} />}
      {open?.what === 'unassign' && <UnassignAddress address={open.address} onClose={close} />}
      {open?.what === 'release' && <ReleaseAddress address={open.address} onClose={close} />}
      {open?.what === 'release all' && (
        <BulkDelete
          rows={open.addresses.map((each) => ({ ...each, name: [each.address, each.name].filter(Boolean).join(' ') }))}
          words={{ title: w.bulk.title, about: w.bulk.about, submit: w.bulk.release }}
          confirm={w.bulk.count(open.addresses.length)}
          obstacleOf={({ address, vmId }) => (vmId === null ? null : w.releaseAssigned(address))}
          quote={({ id }, signal) => berth.addresses.quoteRelease(id, { signal })}
          remove={({ id }) => berth.addresses.release(id)}
          invalidates={PAID}
          onClose={close}
        />
      )}
    </ListPage>
  )
}

const MOVED = ['addresses', 'actions']
const PAID = ['addresses', 'limits', 'wallet']

function ReserveAddress({ onClose }: { onClose: () => void }) {
  const regions = useQuery(regionsQuery).data ?? []
  const [region, setRegion] = useState('')
  const [name, setName] = useState('')
  const regionId = region || (regions[0]?.id ?? '')
  const order = { regionId, ...(name !== '' && { name }) }
  const quote = useQuery({
    queryKey: ['addresses', 'quote', regionId],
    queryFn: ({ signal }) => berth.addresses.quoteReserve({ regionId }, { signal }),
    enabled: regionId !== '',
  })
  const reserve = useWrite(() => berth.addresses.reserve(order), {
    inForm: true,
    invalidates: PAID,
    successMessage: ({ address }) => w.reserved(address),
    onDone: onClose,
  })
  return (
    <Dialog title={w.reserve} onClose={onClose}>
      <Form
        onSubmit={() => reserve.mutate()}
        busy={reserve.isPending}
        error={reserve.error ?? quote.error}
        submit={w.reserve}
        onCancel={onClose}
      >
        <NativeSelect
          label={w.region}
          value={regionId}
          onChange={(event) => setRegion(event.currentTarget.value)}
          data={regions.map(({ id, name: label }) => ({ value: id, label }))}
          error={fieldError(reserve.error, 'regionId')}
          data-autofocus
        />
        <TextInput
          label={w.name}
          description={w.nameHint}
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
          error={fieldError(reserve.error, 'name')}
          maxLength={100}
        />
        {quote.data && <div>{w.reserveAbout(formatMoney(quote.data.charge, quote.data.currency))}</div>}
      </Form>
    </Dialog>
  )
}

interface AssignProps {
  address: Address
  vms: VmListItem[]
  nameOf: (vmId: string) => string
  onClose: () => void
}

/** What the dialog has shown is what is expected: another person's move in between is not undone. */
const AssignAddress = ({ address, vms, nameOf, onClose }: AssignProps) => (
  <ChooseVmDialog
    title={w.assignTitle(address.address)}
    submit={w.assign}
    about={address.vmId === null ? undefined : w.assignTakes(nameOf(address.vmId))}
    choices={vms.filter(({ id, region }) => region.slug === address.region.slug && id !== address.vmId)}
    write={(vmId) => berth.addresses.assign(address.id, { vmId, expectedVmId: address.vmId })}
    invalidates={MOVED}
    successMessage={w.assigning(address.address)}
    onClose={onClose}
  />
)

interface AddressProps {
  address: Address
  onClose: () => void
}

function UnassignAddress({ address, onClose }: AddressProps) {
  const write = useWrite(() => berth.addresses.unassign(address.id, { expectedVmId: address.vmId ?? undefined }), {
    inForm: true,
    invalidates: MOVED,
    successMessage: w.unassigning(address.address),
  })
  return (
    <ConfirmDialog title={w.unassignTitle} submit={w.unassign} write={write} onClose={onClose}>
      {w.unassignAbout(address.address)}
    </ConfirmDialog>
  )
}

function ReleaseAddress({ address, onClose }: AddressProps) {
  const write = useWrite(() => berth.addresses.release(address.id), {
    inForm: true,
    invalidates: PAID,
    successMessage: w.released(address.address),
  })
  return (
    <ConfirmDialog title={w.releaseTitle} submit={w.release} write={write} onClose={onClose} disabled={address.vmId !== null}>
      {address.vmId === null ? w.releaseAbout(address.address) : w.releaseAssigned(address.address)}
    </ConfirmDialog>
  )
}
