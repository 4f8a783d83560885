import type { Vm } from '@berth/sdk'
import { Card } from '../../ui/Page.tsx'
import { vmMessages } from '../../words/words.ts'
import { ConsoleView } from './ConsoleView.tsx'

export default function Console({ vm }: { vm: Vm }) {
  return (
    <Card title={vmMessages.tabs.console} about={vmMessages.console.about}>
      <ConsoleView vm={vm} />
    </Card>
  )
}
