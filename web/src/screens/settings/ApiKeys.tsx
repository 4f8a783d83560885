import type { NewToken, Token } from '@berth/sdk'
import { Button, Tooltip, UnstyledButton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { berth } from '../../api/berth.ts'
import { keysQuery } from '../../api/keys.ts'
import { sessionQuery } from '../../api/session.ts'
import { Code } from '../../ui/CopyButton.tsx'
import { SecretDialog } from '../../ui/Dialogs.tsx'
import { Icon } from '../../ui/Icon.tsx'
import { Card } from '../../ui/Page.tsx'
import { RenameDialog } from '../../ui/Rename.tsx'
import { BudgetLeft, ChangeBudget } from '../../ui/Budget.tsx'
import { RowMenu } from '../../ui/RowMenu.tsx'
import { Empty, Loaded } from '../../ui/AsyncState.tsx'
import { Status } from '../../ui/Status.tsx'
import { Table, type Column } from '../../ui/Table.tsx'
import { Time } from '../../ui/Time.tsx'
import { budgetMessages, commonMessages, settingsMessages } from '../../words/words.ts'
import { CreateKey } from './CreateKey.tsx'
import { RevokeKey } from './RevokeKey.tsx'

const w = settingsMessages.keys

type Open = { what: 'create' } | { what: 'secret'; key: NewToken } | { what: 'rename' | 'budget' | 'revoke' | 'delete'; key: Token } | null

export function ApiKeys() {
  const [open, setOpen] = useState<Open>(null)
  const close = (): void => setOpen(null)
  const keys = useQuery(keysQuery)
  const scopes = useQuery(sessionQuery).data?.account?.scopes ?? []
  const may = (verb: string): boolean => scopes.includes(`tokens:${verb}`)
  const create = may('create') && (
    <Button leftSection={<Icon name="plus" size={16} />} onClick={() => setOpen({ what: 'create' })}>
      {w.create}
    </Button>
  )
  const columns: Column<Token>[] = [
    { head: w.columns.name, truncate: ({ name }) => name, cell: (key) => <KeyName apiKey={key} all={keys.data ?? []} /> },
    { head: w.columns.key, cell: ({ prefix }) => <code>{prefix}…</code> },
    { head: w.columns.scopes, cell: ({ scopes }) => <Scopes scopes={scopes} /> },
    { head: budgetMessages.budget, cell: ({ budget }) => <BudgetLeft budget={budget} /> },
    { head: w.columns.lastUsed, cell: (key) => <LastUsed apiKey={key} /> },
    { head: w.columns.expires, cell: ({ expiresAt }) => (expiresAt ? <Time at={expiresAt} as="date" /> : commonMessages.never) },
    { head: w.columns.status, cell: (key) => <KeyStatus apiKey={key} /> },
    {
      head: commonMessages.actions,
      quiet: true,
      shrink: true,
      right: true,
      cell: (key) => (
        <RowMenu
          name={key.name}
          items={[
            { label: commonMessages.rename, onClick: () => setOpen({ what: 'rename', key }), disabled: !may('update') },
            { label: budgetMessages.change, onClick: () => setOpen({ what: 'budget', key }), disabled: !key.isActive || !may('update') },
            { label: w.revoke, onClick: () => setOpen({ what: 'revoke', key }), disabled: !key.isActive || !may('update') },
            { label: w.delete, onClick: () => setOpen({ what: 'delete', key }), danger: true, disabled: !may('delete') },
          ]}
        />
      ),
    },
  ]
  return (
    <Card flush title={settingsMessages.tabs.keys} about={w.about} actions={create}>
      <Loaded of={keys}>
        {(all) =>
          all.length === 0 ? (
            <Empty icon="key" title={w.emptyTitle} about={w.emptyAbout} action={create} />
          ) : (
            <Table caption={settingsMessages.tabs.keys} columns={columns} rows={all} rowKey={({ id }) => id} />
          )
        }
      </Loaded>
      {open?.what === 'create' && <CreateKey onClose={close} onCreated={(key) => setOpen({ what: 'secret', key })} />}
      {open?.what === 'secret' && (
        <SecretDialog
          label={w.secret}
          secret={open.key.secret}
          hint={<Code text={tryIt(open.key.secret)} what={w.example} />}
          onClose={close}
        />
      )}
      {open?.what === 'rename' && (
        <RenameDialog
          title={w.rename(open.key.name)}
          name={open.key.name}
          write={(name) => berth.tokens.update(open.key.id, { name })}
          invalidates="api-keys"
          onClose={close}
        />
      )}
      {open?.what === 'budget' && (
        <ChangeBudget
          name={open.key.name}
          budget={open.key.budget}
          save={(budget) => berth.tokens.update(open.key.id, { budget })}
          invalidates={['api-keys']}
          onClose={close}
        />
      )}
      {(open?.what === 'revoke' || open?.what === 'delete') && <RevokeKey apiKey={open.key} how={open.what} onClose={close} />}
    </Card>
  )
}

const tryIt = (secret: string): string => `curl -H 'x-api-key: ${secret}' ${location.origin}/api/public/v1/regions`

/** With the key that it was made with, where it is one of the list. */
function KeyName({ apiKey: { name, parentId }, all }: { apiKey: Token; all: Token[] }) {
  const parent = all.find(({ id }) => id === parentId)
  return (
    <>
      <strong>{name}</strong> {parent && <span className="muted">{w.madeWith(parent.name)}</span>}
    </>
  )
}

const Scopes = ({ scopes }: { scopes: string[] }) => (
  <Tooltip label={scopes.join(', ')}>
    <UnstyledButton fz="inherit">{w.allowed(scopes.length)}</UnstyledButton>
  </Tooltip>
)

const LastUsed = ({ apiKey: { lastUsedAt, lastUsedIp } }: { apiKey: Token }) =>
  lastUsedAt ? (
    <span>
      <Time at={lastUsedAt} as="ago" /> <span className="muted">{lastUsedIp && w.from(lastUsedIp)}</span>
    </span>
  ) : (
    <span className="muted">{w.neverUsed}</span>
  )

const KeyStatus = ({ apiKey: { isActive, revokedAt } }: { apiKey: Token }) =>
  isActive ? <Status tone="good">{w.active}</Status> : <Status tone="idle">{revokedAt ? w.revoked : w.expired}</Status>
