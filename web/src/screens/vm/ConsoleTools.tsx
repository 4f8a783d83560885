import { ActionIcon, Button, Menu, Tooltip } from '@mantine/core'
import type { RefObject } from 'react'
import { Icon, type IconName } from '../../ui/Icon.tsx'
import { toast } from '../../ui/toasts.ts'
import { vmMessages } from '../../words/words.ts'
import type { ConsoleScreen } from './console-screen.ts'
import { COMBINATIONS, CONTROL_CHARACTERS } from './keysyms.ts'
import type { ConsoleKind } from './useConsole.ts'

const w = vmMessages.console
const SMALLEST = 9
const LARGEST = 24

/** As the keys are called in the language of the dashboard. */
const nameOf = (combination: string): string =>
  combination.replace(/Ctrl|Del|SysRq|Escape/g, (part) => w.keyParts[part as keyof typeof w.keyParts])

interface Props {
  kind: ConsoleKind
  vmId: string
  screen: RefObject<ConsoleScreen | null>
  frame: RefObject<HTMLElement | null>
  isWindow: boolean
  fontSize: number
  onFontSize: (size: number) => void
  onPaste: () => void
  onPopOut: () => void
}

export function ConsoleTools({ kind, vmId, screen, frame, isWindow, fontSize, onFontSize, onPaste, onPopOut }: Props) {
  const press = (combination: string): void => {
    screen.current?.press(combination)
    screen.current?.focus()
  }
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(screen.current?.text() ?? '')
      toast.success(w.copied)
    } catch {
      toast.error(w.notCopied)
    }
    screen.current?.focus()
  }
  const toggleFullScreen = async (): Promise<void> => {
    if (document.fullscreenElement) await document.exitFullscreen()
    else await frame.current?.requestFullscreen()
    screen.current?.focus()
  }
  const popOut = (): void => {
    const opened = open(`/vms/${vmId}/console?kind=${kind}`, `berth-console-${vmId}`, 'popup,width=1000,height=680')
    if (opened) onPopOut() // the new window takes the console over
    else toast.error(w.popUpBlocked)
  }
  return (
    <>
      {/* Within the frame, so that the menu is there in full screen too. */}
      <Menu position="bottom-start" withinPortal={false}>
        <Menu.Target>
          <Button variant="default" size="xs" rightSection={<Icon name="down" size={14} />}>
            {w.keys}
          </Button>
        </Menu.Target>
        <Menu.Dropdown mah={340} style={{ overflowY: 'auto' }}>
          {Object.keys(kind === 'vnc' ? COMBINATIONS : CONTROL_CHARACTERS).map((each) => (
            <Menu.Item
              key={each}
              onClick={() => press(each)}
              rightSection={w.keyHints[each] && <span className="muted">{w.keyHints[each]}</span>}
            >
              {nameOf(each)}
            </Menu.Item>
          ))}
        </Menu.Dropdown>
      </Menu>
      <Tool label={w.paste} icon="clipboard" onClick={onPaste} />
      {kind === 'serial' && (
        <>
          <Tool label={w.copy} icon="copy" onClick={() => void copy()} />
          <Tool label={w.smaller} icon="minus" onClick={() => onFontSize(Math.max(SMALLEST, fontSize - 1))} />
          <Tool label={w.larger} icon="plus" onClick={() => onFontSize(Math.min(LARGEST, fontSize + 1))} />
        </>
      )}
      <Tool label={w.fullScreen} icon="expand" onClick={() => void toggleFullScreen()} />
      {!isWindow && <Tool label={w.popOut} icon="out" onClick={popOut} />}
    </>
  )
}

const Tool = ({ label, icon, onClick }: { label: string; icon: IconName; onClick: () => void }) => (
  <Tooltip label={label} withinPortal={false}>
    <ActionIcon variant="default" size={30} aria-label={label} onClick={onClick}>
      <Icon name={icon} size={16} />
    </ActionIcon>
  </Tooltip>
)
