import { TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { apiRequest } from '../../api/request.ts'
import { useWrite } from '../../api/client.ts'
import { sessionQuery, type Session } from '../../api/session.ts'
import { Copyable } from '../../ui/CopyButton.tsx'
import { Form } from '../../ui/Form.tsx'
import { Card, Facts, Stack } from '../../ui/Page.tsx'
import { Loaded } from '../../ui/AsyncState.tsx'
import { commonMessages, settingsMessages } from '../../words/words.ts'

const w = settingsMessages.profile

export function Profile() {
  const session = useQuery(sessionQuery)
  return (
    <Card title={settingsMessages.tabs.profile} about={w.about}>
      <Loaded of={session}>{(data) => data && <ProfileForm session={data} />}</Loaded>
    </Card>
  )
}

function ProfileForm({ session: { user, account, settings } }: { session: Session }) {
  const [name, setName] = useState(user.name)
  const save = useWrite(() => apiRequest('PATCH', '/user', { name }), {
    inForm: true,
    invalidates: ['session'],
    successMessage: commonMessages.saved,
  })
  return (
    <Stack>
      <Form
        onSubmit={() => save.mutate()}
        busy={save.isPending}
        error={save.error}
        submit={commonMessages.save}
        disabled={name === user.name}
      >
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
          [w.account, <Copyable key="" text={account?.id ?? ''} what={w.account} />],
          [w.version, settings.version],
        ]}
      />
    </Stack>
  )
}
