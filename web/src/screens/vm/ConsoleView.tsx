import { Alert, Button, SegmentedControl } from '@mantine/core'
import type { Vm } from '@berth/sdk'
import { lazy, Suspense, useEffect, useEffectEvent, useRef, useState } from 'react'
import { useNow } from '../../ui/Time.tsx'
import { Loading } from '../../ui/AsyncState.tsx'
import { commonMessages, vmMessages } from '../../words/words.ts'
import { ActionButton } from './ActionButton.tsx'
import { needsQuestion, type ConsoleScreen } from './console-screen.ts'
import css from './console.module.css'
import { ConsoleTools } from './ConsoleTools.tsx'
import { PasteDialog } from './PasteDialog.tsx'
import { useConsole, type ConsoleKind, type ConsoleState } from './useConsole.ts'

const Serial = lazy(() => import('./Serial.tsx'))
const Vnc = lazy(() => import('./Vnc.tsx'))

const w = vmMessages.console

interface Props {
  vm: Vm
  /** In a window of its own: it fills that, and opens at once. */
  isWindow?: boolean
  initial?: ConsoleKind
}

export function ConsoleView({ vm, isWindow = false, initial = 'serial' }: Props) {
  const [kind, setKind] = useState<ConsoleKind>(initial)
  const { state, ...link } = useConsole(vm.id, kind)
  const [fontSize, setFontSize] = useFontSize()
  const [pasting, setPasting] = useState<string | null>(null)
  const [typed, setTyped] = useState(0)
  const frame = useRef<HTMLDivElement>(null)
  const screen = useRef<ConsoleScreen>(null)
  const choose = (next: string): void => {
    setKind(next as ConsoleKind)
    link.reset()
  }
  const openAtOnce = useEffectEvent(() => isWindow && link.connect())
  useEffect(() => void openAtOnce(), [kind])
  const type = async (text: string): Promise<void> => {
    screen.current?.focus()
    setTyped(text.length)
    await screen.current?.type(text)
    setTyped(0)
  }
  const url = state.is === 'connecting' || state.is === 'connected' ? state.url : null
  const Screen = kind === 'serial' ? Serial : Vnc
  return (
    <div ref={frame} className={isWindow ? css['window'] : css['frame']}>
      <div className={css['bar']}>
        <SegmentedControl
          aria-label={w.kind}
          size="xs"
          value={kind}
          onChange={choose}
          data={[
            { value: 'serial', label: w.serial },
            { value: 'vnc', label: w.vnc },
          ]}
        />
        {url !== null && (
          <ConsoleTools
            kind={kind}
            vmId={vm.id}
            screen={screen}
            frame={frame}
            isWindow={isWindow}
            fontSize={fontSize}
            onFontSize={setFontSize}
            onPaste={() => setPasting('')}
            onPopOut={link.reset}
          />
        )}
      </div>
      {url === null ? (
        <Closed vm={vm} state={state} onOpen={link.connect} onNow={link.connectNow} onStop={link.close} />
      ) : (
        <Suspense fallback={<Loading />}>
          <Screen
            key={url}
            ref={screen}
            url={url}
            label={w.label(vm.name)}
            fontSize={fontSize}
            onConnected={link.onConnected}
            onClosed={link.onClosed}
            onPaste={(text) => (needsQuestion(text) ? setPasting(text) : void type(text))}
          />
        </Suspense>
      )}
      <div className={css['foot']}>
        <output className={css['state']} data-is={state.is}>
          {typed > 0 ? w.typing(typed) : <StateText state={state} />}
        </output>
        {url !== null && (
          <>
            <span className="muted">{w.leave}</span>
            <Button variant="default" size="xs" onClick={link.close}>
              {commonMessages.close}
            </Button>
          </>
        )}
      </div>
      {pasting !== null && <PasteDialog kind={kind} text={pasting} onType={type} onClose={() => setPasting(null)} within={frame} />}
    </div>
  )
}

/** Where the screen would be. */
function Closed({
  vm,
  state,
  onOpen,
  onNow,
  onStop,
}: {
  vm: Vm
  state: ConsoleState
  onOpen: () => void
  onNow: () => void
  onStop: () => void
}) {
  return (
    <div className={css['closed']}>
      {state.is === 'waiting' ? (
        <>
          <p>{state.why}</p>
          <div className={css['choices']}>
            <Button size="sm" onClick={onNow}>
              {w.reconnectNow}
            </Button>
            <Button size="sm" variant="default" onClick={onStop}>
              {w.stopTrying}
            </Button>
          </div>
        </>
      ) : (
        <>
          {state.is === 'ended' && state.why !== w.closed && <Alert color="orange">{state.why}</Alert>}
          <ActionButton vm={vm} action="console" loading={state.is === 'opening'} onClick={onOpen}>
            {state.is === 'ended' ? w.reopen : w.open}
          </ActionButton>
        </>
      )}
    </div>
  )
}

function StateText({ state }: { state: ConsoleState }) {
  const now = useNow(state.is === 'waiting' ? 1_000 : null)
  if (state.is === 'idle') return null
  if (state.is === 'waiting') return w.waiting(Math.max(0, Math.ceil((state.at - now) / 1_000)), state.attempt)
  if (state.is === 'ended') return w.closed
  return state.is === 'connected' ? w.connected : w.connecting
}

const FONT_KEY = 'berth:console-font-size'

function useFontSize(): [number, (size: number) => void] {
  const [size, setSize] = useState(() => Math.min(24, Math.max(9, Number(localStorage.getItem(FONT_KEY)) || 13)))
  const keep = (next: number): void => {
    localStorage.setItem(FONT_KEY, String(next))
    setSize(next)
  }
  return [size, keep]
}
