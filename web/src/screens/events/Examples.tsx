import { NativeSelect } from '@mantine/core'
import { WEBHOOK_EVENTS, type EventType } from '@berth/sdk'
import { useState } from 'react'
import { Code } from '../../ui/CopyButton.tsx'
import { Card, Columns, Stack } from '../../ui/Page.tsx'
import { eventMessages as w } from '../../words/words.ts'
import { examplePayload } from './example.ts'

export function Examples() {
  const [type, setType] = useState<EventType>(WEBHOOK_EVENTS[0]!)
  const stream = [
    `curl -N ${location.origin}/api/public/v1/events \\`,
    `  -H "x-api-key: $BERTH_TOKEN" \\`,
    `  -H 'Accept: text/event-stream'`,
  ].join('\n')
  return (
    <Columns>
      <Card title={w.examples} about={w.examplesAbout}>
        <Stack gap={12}>
          <NativeSelect
            aria-label={w.type}
            value={type}
            onChange={(event) => setType(event.currentTarget.value as EventType)}
            data={[...WEBHOOK_EVENTS]}
          />
          <Code text={JSON.stringify(examplePayload(type), null, 2)} what={w.examples} />
        </Stack>
      </Card>
      <Card title={w.stream} about={w.streamAbout}>
        <Code text={stream} what={w.stream} />
      </Card>
    </Columns>
  )
}
