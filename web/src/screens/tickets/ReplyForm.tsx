import { Textarea } from '@mantine/core'
import { useState } from 'react'
import { useWrite } from '../../api/client.ts'
import { fieldError } from '../../api/errors.ts'
import { Form } from '../../ui/Form.tsx'
import { Card } from '../../ui/Page.tsx'
import { ticketMessages as w } from '../../words/words.ts'

interface Props {
  send: (body: string) => Promise<unknown>
  invalidates: string[]
  about?: string | undefined
}

export function ReplyForm({ send, invalidates, about }: Props) {
  const [body, setBody] = useState('')
  const reply = useWrite(() => send(body), { inForm: true, invalidates, successMessage: w.sent, onDone: () => setBody('') })
  return (
    <Card>
      <Form onSubmit={() => reply.mutate()} busy={reply.isPending} error={reply.error} submit={w.send} disabled={body === ''}>
        <Textarea
          label={w.reply}
          description={about}
          value={body}
          onChange={(event) => setBody(event.currentTarget.value)}
          error={fieldError(reply.error, 'body')}
          rows={5}
        />
      </Form>
    </Card>
  )
}
