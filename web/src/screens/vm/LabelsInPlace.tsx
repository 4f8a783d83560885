import { ActionIcon } from '@mantine/core'
import type { Vm } from '@berth/sdk'
import { useState } from 'react'
import { berth } from '../../api/berth.ts'
import { Icon } from '../../ui/Icon.tsx'
import { LabelsForm, LabelTags } from '../../ui/Labels.tsx'
import { Row } from '../../ui/Page.tsx'
import { labelMessages } from '../../words/words.ts'

/** Shown as chips, and as a form where they stand once they are edited. */
export function LabelsInPlace({ vm }: { vm: Vm }) {
  const [isEdited, setIsEdited] = useState(false)
  if (isEdited)
    return (
      <LabelsForm
        key={JSON.stringify(vm.labels)}
        labels={vm.labels}
        write={(labels) => berth.vms.update(vm.id, { labels })}
        invalidates={['vm', 'vms']}
        onDone={() => setIsEdited(false)}
      />
    )
  return (
    <Row gap={4}>
      <LabelTags labels={vm.labels} />
      <ActionIcon
        variant="subtle"
        color="gray"
        size="sm"
        aria-label={labelMessages.edit}
        title={labelMessages.edit}
        onClick={() => setIsEdited(true)}
      >
        <Icon name="tag" size={15} />
      </ActionIcon>
    </Row>
  )
}
