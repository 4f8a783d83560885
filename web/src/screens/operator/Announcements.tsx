import { Button, NativeSelect, Textarea, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useWrite } from '../../api/client.ts'
import { fieldError } from '../../api/errors.ts'
import { operatorAnnouncementsQuery, operatorRegionsQuery, operatorRequest, type OperatorAnnouncement } from '../../api/operator.ts'
import { Announcement } from '../../shell/Announcements.tsx'
import { ConfirmDialog, Dialog } from '../../ui/Dialogs.tsx'
import { Form } from '../../ui/Form.tsx'
import { Icon } from '../../ui/Icon.tsx'
import { RowMenu } from '../../ui/RowMenu.tsx'
import { Status, type Tone } from '../../ui/Status.tsx'
import type { Column } from '../../ui/Table.tsx'
import { Time } from '../../ui/Time.tsx'
import { announcementMessages as w, commonMessages } from '../../words/words.ts'
import { List } from './List.tsx'

const TONES: Record<OperatorAnnouncement['state'], Tone> = { SCHEDULED: 'busy', SHOWN: 'good', OVER: 'idle', WITHDRAWN: 'idle' }

export default function Announcements() {
  const [open, setOpen] = useState<OperatorAnnouncement | 'new' | null>(null)
  const announcements = useQuery(operatorAnnouncementsQuery)
  const columns: Column<OperatorAnnouncement>[] = [
    { head: w.text, grow: true, truncate: ({ text }) => text, cell: ({ text }) => text },
    { head: w.level, cell: ({ level }) => w.levels[level] },
    { head: w.audience, cell: ({ region }) => (region === null ? w.everybody : w.inRegion(region)) },
    { head: w.state, cell: ({ state }) => <Status tone={TONES[state]}>{w.states[state]}</Status> },
    { head: w.from, right: true, cell: ({ startsAt }) => <Time at={startsAt} /> },
    { head: w.until, right: true, cell: ({ endsAt }) => (endsAt === null ? '' : <Time at={endsAt} />) },
    {
      head: commonMessages.actions,
      quiet: true,
      shrink: true,
      right: true,
      cell: (each) =>
        (each.state === 'SHOWN' || each.state === 'SCHEDULED') && (
          <RowMenu name={each.text.slice(0, 40)} items={[{ label: w.withdraw, onClick: () => setOpen(each), danger: true }]} />
        ),
    },
  ]
  const create = (
    <Button leftSection={<Icon name="plus" size={16} />} onClick={() => setOpen('new')}>
      {w.create}
    </Button>
  )
  return (
    <List messages={w} icon="pulse" of={announcements} columns={columns} rowKey={({ id }) => id} actions={create}>
      {open === 'new' && <Create onClose={() => setOpen(null)} />}
      {open !== null && open !== 'new' && <Withdraw id={open.id} onClose={() => setOpen(null)} />}
    </List>
  )
}

function Withdraw({ id, onClose }: { id: string; onClose: () => void }) {
  const write = useWrite(() => operatorRequest('DELETE', `/announcements/${id}`), {
    inForm: true,
    invalidates: ['operator', 'announcements'],
    successMessage: w.withdrawn,
  })
  return (
    <ConfirmDialog title={w.withdrawTitle} submit={w.withdraw} write={write} onClose={onClose}>
      {w.withdrawAbout}
    </ConfirmDialog>
  )
}

const isoOf = (local: string): string | undefined => (local === '' ? undefined : new Date(local).toISOString())

function Create({ onClose }: { onClose: () => void }) {
  const [order, setOrder] = useState({ text: '', level: 'INFO' as keyof typeof w.levels, region: '', startsAt: '', endsAt: '' })
  const regions = useQuery(operatorRegionsQuery).data ?? []
  const change = (changes: Partial<typeof order>): void => setOrder({ ...order, ...changes })
  const { text, level, region, startsAt, endsAt } = order
  const write = useWrite(
    () =>
      operatorRequest('POST', '/announcements', {
        text,
        level,
        region: region || null,
        ...(isoOf(startsAt) && { startsAt: isoOf(startsAt) }),
        ...(isoOf(endsAt) && { endsAt: isoOf(endsAt) }),
      }),
    { inForm: true, invalidates: ['operator', 'announcements'], successMessage: w.created, onDone: onClose },
  )
  return (
    <Dialog title={w.create} onClose={onClose} size="lg">
      <Form onSubmit={() => write.mutate()} busy={write.isPending} error={write.error} submit={w.create} onCancel={onClose}>
        <Textarea
          label={w.text}
          description={w.textHint}
          autosize
          minRows={3}
          maxLength={1_000}
          value={text}
          onChange={(event) => change({ text: event.currentTarget.value })}
          error={fieldError(write.error, 'text')}
          data-autofocus
        />
        <NativeSelect
          label={w.level}
          value={level}
          onChange={(event) => change({ level: event.currentTarget.value as keyof typeof w.levels })}
          data={Object.entries(w.levels).map(([value, label]) => ({ value, label }))}
        />
        <NativeSelect
          label={w.audience}
          value={region}
          onChange={(event) => change({ region: event.currentTarget.value })}
          data={[{ value: '', label: w.everybody }, ...regions.map((each) => ({ value: each.id, label: w.inRegion(each.name) }))]}
        />
        <TextInput
          type="datetime-local"
          label={w.from}
          description={w.fromHint(Intl.DateTimeFormat().resolvedOptions().timeZone)}
          value={startsAt}
          onChange={(event) => change({ startsAt: event.currentTarget.value })}
          error={fieldError(write.error, 'startsAt')}
        />
        <TextInput
          type="datetime-local"
          label={w.until}
          description={w.untilHint}
          value={endsAt}
          onChange={(event) => change({ endsAt: event.currentTarget.value })}
          error={fieldError(write.error, 'endsAt')}
        />
        {text.trim() !== '' && (
          <div>
            <p className="muted">{w.preview}</p>
            <Announcement level={level} text={text} />
          </div>
        )}
      </Form>
    </Dialog>
  )
}
