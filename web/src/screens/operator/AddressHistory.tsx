// Which VM had a public address at a time.
import { Button, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { isNotFound } from '../../api/errors.ts'
import { addressHistoryQuery, type AddressHolder } from '../../api/operator.ts'
import { Empty, Loaded } from '../../ui/AsyncState.tsx'
import { TextLink } from '../../ui/links.tsx'
import { Card, Page } from '../../ui/Page.tsx'
import { usePaging } from '../../ui/paging.ts'
import { Status } from '../../ui/Status.tsx'
import { Table, type Column } from '../../ui/Table.tsx'
import { Time } from '../../ui/Time.tsx'
import { operatorVmMessages } from '../../words/words.ts'
import { momentOf, partsOf } from './moment.ts'
import css from './address-history.module.css'

const w = operatorVmMessages.history

const COLUMNS: Column<AddressHolder>[] = [
  {
    head: w.vm,
    truncate: ({ vmName }) => vmName,
    cell: ({ vmId, vmName, vmExists, isFloating }) => (
      <div>
        {vmExists ? (
          <TextLink to="/operator/vms" search={{ action: vmId }}>
            {vmName}
          </TextLink>
        ) : (
          <strong>{vmName}</strong>
        )}{' '}
        {!vmExists && <Status tone="idle">{w.deleted}</Status>}
        <div className="muted numbers">
          {vmId}
          {isFloating && ` · ${w.floating}`}
        </div>
      </div>
    ),
  },
  {
    head: operatorVmMessages.account,
    truncate: ({ email }) => email,
    cell: ({ accountId, email }) => (
      <TextLink to="/operator/accounts/$accountId" params={{ accountId }}>
        {email || accountId}
      </TextLink>
    ),
  },
  { head: w.address, cell: ({ address }) => <code>{address.replace(/\/(32|128)$/, '')}</code> },
  { head: w.since, cell: ({ since }) => <Time at={since} />, right: true },
  { head: w.until, cell: ({ until }) => (until === null ? <Status tone="good">{w.now}</Status> : <Time at={until} />), right: true },
]

export default function AddressHistory() {
  const { search, filter } = usePaging()
  const { action: address = '', dateFrom: at } = search
  return (
    <Page title={w.title} about={w.about} above={<TextLink to="/operator/vms">{operatorVmMessages.title}</TextLink>}>
      <Card>
        <Question
          key={`${address} ${at}`}
          address={address}
          at={at}
          ask={(next) => filter({ action: next.address || undefined, dateFrom: next.at })}
        />
      </Card>
      <Card flush>
        {address === '' ? <Empty icon="search" title={w.promptTitle} about={w.prompt} /> : <Holders address={address} at={at} />}
      </Card>
    </Page>
  )
}

interface QuestionProps {
  address: string
  at: string | undefined
  ask: (question: { address: string; at: string | undefined }) => void
}

function Question({ address, at, ask }: QuestionProps) {
  const [typed, setTyped] = useState(address)
  const [{ day, time }, setMoment] = useState(partsOf(at))
  return (
    <form
      className={css['question']}
      onSubmit={(event) => {
        event.preventDefault()
        ask({ address: typed.trim(), at: momentOf(day, time) })
      }}
    >
      <TextInput
        label={w.address}
        placeholder={w.addressHint}
        value={typed}
        onChange={(event) => setTyped(event.currentTarget.value)}
        required
      />
      <TextInput type="date" label={w.day} value={day} onChange={(event) => setMoment({ day: event.currentTarget.value, time })} />
      <TextInput
        type="time"
        step={1}
        label={w.time}
        value={time}
        disabled={day === ''}
        onChange={(event) => setMoment({ day, time: event.currentTarget.value })}
      />
      <Button type="submit">{w.show}</Button>
      <p className="muted">{w.zone(Intl.DateTimeFormat().resolvedOptions().timeZone)}</p>
    </form>
  )
}

function Holders({ address, at }: { address: string; at: string | undefined }) {
  const holders = useQuery(addressHistoryQuery(address, at))
  if (isNotFound(holders.error)) return <Empty icon="warning" title={w.promptTitle} about={w.notAnAddress} />
  return (
    <Loaded of={holders} lines={2}>
      {(rows) =>
        rows.length === 0 ? (
          <Empty icon="pin" title={w.empty} about={w.emptyAbout} />
        ) : (
          <Table caption={w.title} columns={COLUMNS} rows={rows} rowKey={({ vmId, since }) => `${vmId} ${since}`} />
        )
      }
    </Loaded>
  )
}
