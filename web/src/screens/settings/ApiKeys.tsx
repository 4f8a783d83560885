import { Button, Tooltip } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { ask } from '../../api/request.ts'
import { keysQuery, type ApiKey, type NewApiKey } from '../../api/keys.ts'
import { Code } from '../../ui/CopyButton.tsx'
import { Secret } from '../../ui/Dialogs.tsx'
import { Icon } from '../../ui/Icon.tsx'
import { Card } from '../../ui/Page.tsx'
import { Rename } from '../../ui/Rename.tsx'
import { RowMenu } from '../../ui/RowMenu.tsx'
import { Empty, Loaded } from '../../ui/AsyncState.tsx'
import { Status } from '../../ui/Status.tsx'
import { Table, type Column } from '../../ui/Table.tsx'
import { Time } from '../../ui/Time.tsx'
import { commonWords } from '../../messages/common.ts'
import { settingsWords } from '../../messages/settings.ts'
import { CreateKey } from './CreateKey.tsx'
import { EndKey } from './RevokeKey.tsx'

const w = settingsWords.keys

type Open = { what: 'create' } | { what: 'secret'; key: NewApiKey } | { what: 'rename' | 'revoke' | 'delete'; key: ApiKey } | null

export function ApiKeys() {
  const [open, setOpen] = useState<Open>(null)
  const close = (): void => setOpen(null)
  const keys = useQuery(keysQuery)
  const create = (
    <Button leftSection={<Icon name="plus" size={16} />} onClick={() => setOpen({ what: 'create' })}>
      {w.create}
    </Button>
  )
  const columns: Column<ApiKey>[] = [
    { head: w.columns.name, cell: ({ name }) => <strong>{name}</strong> },
    { head: w.columns.key, cell: ({ prefix }) => <code>{prefix}…</code> },
    { head: w.columns.scopes, cell: ({ scopes }) => <Scopes scopes={scopes} /> },
    { head: w.columns.lastUsed, cell: (key) => <LastUsed apiKey={key} /> },
    { head: w.columns.expires, cell: ({ expiresAt }) => (expiresAt ? <Time at={expiresAt} as="date" /> : commonWords.never) },
    { head: w.columns.status, cell: (key) => <KeyStatus apiKey={key} /> },
    {
      head: commonWords.actions,
      quiet: true,
      shrink: true,
      right: true,
      cell: (key) => (
        <RowMenu
          name={key.name}
          items={[
            { label: commonWords.rename, onClick: () => setOpen({ what: 'rename', key }) },
            { label: w.revoke, onClick: () => setOpen({ what: 'revoke', key }), disabled: !key.isActive },
            { label: commonWords.delete, onClick: () => setOpen({ what: 'delete', key }), danger: true },
          ]}
        />
      ),
    },
  ]
  return (
    <Card flush title={settingsWords.tabs.keys} about={w.about} actions={create}>
      <Loaded of={keys}>
        {(all) =>
          all.length === 0 ? (
            <Empty icon="key" title={w.emptyTitle} about={w.emptyAbout} action={create} />
          ) : (
            <Table caption={settingsWords.tabs.keys} columns={columns} rows={all} rowKey={({ id }) => id} />
          )
        }
      </Loaded>
      {open?.what === 'create' && <CreateKey onClose={close} onCreated={(key) => setOpen({ what: 'secret', key })} />}
      {open?.what === 'secret' && (
        <Secret label={w.secret} secret={open.key.secret} hint={<Code text={tryIt(open.key.secret)} what={w.tryIt} />} onClose={close} />
      )}
      {open?.what === 'rename' && (
        <Rename
          title={w.rename(open.key.name)}
          name={open.key.name}
          write={(name) => ask('PATCH', `/api-keys/${open.key.id}`, { name })}
          changes="api-keys"
          onClose={close}
        />
      )}
      {(open?.what === 'revoke' || open?.what === 'delete') && <EndKey apiKey={open.key} how={open.what} onClose={close} />}
    </Card>
  )
}

const tryIt = (secret: string): string => `curl -H 'x-api-key: ${secret}' ${location.origin}/api/public/v1/regions`

const Scopes = ({ scopes }: { scopes: string[] }) => (
  <Tooltip label={scopes.join(', ')}>
    <span tabIndex={0}>{w.allowed(scopes.length)}</span>
  </Tooltip>
)

const LastUsed = ({ apiKey: { lastUsedAt, lastUsedFrom } }: { apiKey: ApiKey }) =>
  lastUsedAt ? (
    <span>
      <Time at={lastUsedAt} as="ago" /> <span className="muted">{lastUsedFrom && w.from(lastUsedFrom)}</span>
    </span>
  ) : (
    <span className="muted">{w.neverUsed}</span>
  )

const KeyStatus = ({ apiKey: { isActive, revokedAt } }: { apiKey: ApiKey }) =>
  isActive ? <Status tone="good">{w.active}</Status> : <Status tone="idle">{revokedAt ? w.revoked : w.expired}</Status>
