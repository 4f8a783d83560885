import { Switch, TextInput } from '@mantine/core'
import type { Account } from '@berth/sdk'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { berth } from '../../api/berth.ts'
import { useWrite } from '../../api/client.ts'
import { fieldError } from '../../api/errors.ts'
import { commonMessages, memberMessages as w } from '../../words/words.ts'
import { accountQuery } from '../../queries/members.ts'
import { Loaded } from '../../ui/AsyncState.tsx'
import { Form } from '../../ui/Form.tsx'
import { Card, Stack } from '../../ui/Page.tsx'

export function AccountSettings() {
  const account = useQuery(accountQuery)
  return (
    <Card title={w.settings}>
      <Loaded of={account}>{(data) => <Fields account={data} />}</Loaded>
    </Card>
  )
}

function Fields({ account }: { account: Account }) {
  const [name, setName] = useState(account.name)
  const invalidates = ['account', 'session']
  const rename = useWrite(() => berth.account.update({ name }), { inForm: true, invalidates, successMessage: commonMessages.saved })
  const require = useWrite((requireTwoFactor: boolean) => berth.account.update({ requireTwoFactor }), {
    invalidates,
    successMessage: ({ requireTwoFactor }) => (requireTwoFactor ? w.required : w.notRequired),
  })
  return (
    <Stack>
      <Form
        onSubmit={() => rename.mutate()}
        busy={rename.isPending}
        error={rename.error}
        submit={commonMessages.save}
        disabled={name === account.name}
      >
        <TextInput
          label={w.name}
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
          error={fieldError(rename.error, 'name')}
          maxLength={100}
          maw={420}
        />
      </Form>
      <Switch
        label={w.requireTwoFactor}
        description={w.requireTwoFactorAbout}
        checked={account.requireTwoFactor}
        disabled={require.isPending}
        onChange={(event) => require.mutate(event.currentTarget.checked)}
      />
    </Stack>
  )
}
