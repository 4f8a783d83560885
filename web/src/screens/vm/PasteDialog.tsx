import { Checkbox, Modal, Textarea } from '@mantine/core'
import { useState, type RefObject } from 'react'
import { Form } from '../../ui/Form.tsx'
import { formatNumber } from '../../ui/format.ts'
import { commonMessages, vmMessages } from '../../words/words.ts'
import { linesOf, needsQuestion, PASTE_LIMIT } from './console-screen.ts'
import type { ConsoleKind } from './useConsole.ts'

const w = vmMessages.console

interface Props {
  kind: ConsoleKind
  text: string
  onType: (text: string) => Promise<void>
  onClose: () => void
  /** In full screen nothing outside of it is seen. */
  within: RefObject<HTMLElement | null>
}

/** Text is typed as it is: each line break is Enter, so a shell carries out line after line. */
export function PasteDialog({ kind, text: initial, onType, onClose, within }: Props) {
  const [text, setText] = useState(initial)
  const [isMeant, setIsMeant] = useState(false)
  const lines = linesOf(text)
  const isTooLong = text.length > PASTE_LIMIT
  const asks = needsQuestion(text) && !isTooLong
  const submit = (): void => {
    onClose()
    void onType(text)
  }
  return (
    <Modal
      opened
      onClose={onClose}
      title={w.paste}
      size="lg"
      portalProps={{ target: document.fullscreenElement ? (within.current ?? undefined) : undefined }}
      closeButtonProps={{ 'aria-label': commonMessages.close }}
    >
      <Form
        onSubmit={submit}
        busy={false}
        error={null}
        submit={w.typeText}
        onCancel={onClose}
        disabled={text === '' || isTooLong || (asks && !isMeant)}
      >
        <Textarea
          label={w.pasteText}
          description={kind === 'vnc' ? w.pasteAboutVnc : w.pasteAbout}
          value={text}
          onChange={(event) => setText(event.currentTarget.value)}
          error={isTooLong && w.pasteTooLong(formatNumber(text.length), formatNumber(PASTE_LIMIT))}
          autosize
          minRows={5}
          maxRows={14}
          spellCheck={false}
          autoComplete="off"
          styles={{ input: { fontFamily: 'var(--font-mono)' } }}
          data-autofocus
        />
        {asks && <Checkbox label={w.pasteLines(lines)} checked={isMeant} onChange={(event) => setIsMeant(event.currentTarget.checked)} />}
      </Form>
    </Modal>
  )
}
