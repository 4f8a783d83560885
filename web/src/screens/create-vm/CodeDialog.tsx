import { Tabs } from '@mantine/core'
import type { CreateVm } from '@berth/sdk'
import { Code } from '../../ui/CopyButton.tsx'
import { Dialog } from '../../ui/Dialogs.tsx'
import { createVmMessages as w } from '../../words/words.ts'
import { asCli, asCurl, asTypeScript, type Names } from './code.ts'

export function CodeDialog({ request, names, onClose }: { request: CreateVm; names: Names; onClose: () => void }) {
  const forms: [string, string][] = [
    [w.curl, asCurl(request, location.origin)],
    [w.cli, asCli(request, names)],
    [w.typescript, asTypeScript(request, location.origin, names.user)],
  ]
  return (
    <Dialog title={w.codeTitle} onClose={onClose} size="lg">
      <p className="muted">{w.codeAbout}</p>
      <Tabs defaultValue={w.curl} mt="md">
        <Tabs.List>
          {forms.map(([name]) => (
            <Tabs.Tab key={name} value={name}>
              {name}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        {forms.map(([name, text]) => (
          <Tabs.Panel key={name} value={name} pt="md">
            <Code text={text} what={name} />
          </Tabs.Panel>
        ))}
      </Tabs>
    </Dialog>
  )
}
