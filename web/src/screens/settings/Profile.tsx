import { TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { ask } from '../../api/request.ts'
import { useWrite } from '../../api/client.ts'
import { sessionQuery, type Session } from '../../api/session.ts'
import { Copyable } from '../../ui/CopyButton.tsx'
import { Form } from '../../ui/Form.tsx'
import { Card, Facts, Stack } from '../../ui/Page.tsx'
import { Loaded } from '../../ui/AsyncState.tsx'
import { commonWords } from '../../messages/common.ts'
import { settingsWords } from '../../messages/settings.ts'

const w = settingsWords.profile

export function Profile() {
  const session = useQuery(sessionQuery)
  return (
    <Card title={settingsWords.tabs.profile} about={w.about}>
      <Loaded of={session}>{(data) => data && <Shown session={data} />}</Loaded>
    </Card>
  )
}

function Shown({ session: { user, account, settings } }: { session: Session }) {
  const [name, setName] = useState(user.name)
  const save = useWrite(() => ask('PATCH', '/user', { name }), { inForm: true, changes: ['session'], says: commonWords.saved })
  return (
    <Stack>
      <Form onSubmit={() => save.mutate()} busy={save.isPending} error={save.error} submit={commonWords.save} disabled={name === user.name}>
        <TextInput
          label={w.name}
          autoComplete="name"
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
          maxLength={100}
          maw={420}
        />
      </Form>
      <Facts
        facts={[
          [w.email, user.email],
          [w.account, <Copyable key="" text={account.id} what={w.account} />],
          [w.version, settings.version],
        ]}
      />
    </Stack>
  )
}
