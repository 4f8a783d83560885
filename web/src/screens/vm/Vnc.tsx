import { Button } from '@mantine/core'
import RFB from '@novnc/novnc'
import { useEffect, useEffectEvent, useRef } from 'react'
import { vmMessages } from '../../words/words.ts'
import { isLeaveKey, type ConsoleScreenProps } from './console-screen.ts'
import css from './vm.module.css'

export default function Vnc({ url, label, onConnected, onClosed }: ConsoleScreenProps) {
  const container = useRef<HTMLDivElement>(null)
  const rfb = useRef<RFB | null>(null)
  const connected = useEffectEvent(onConnected)
  const closed = useEffectEvent(onClosed)
  useEffect(() => {
    const element = container.current!
    const screen = new RFB(element, url)
    rfb.current = screen
    screen.scaleViewport = true
    screen.background = '#0b1110'
    screen.addEventListener('connect', () => {
      connected()
      screen.focus()
    })
    const onDisconnect = (): void => closed('')
    screen.addEventListener('disconnect', onDisconnect)
    const leave = (event: KeyboardEvent): void => {
      if (!isLeaveKey(event)) return
      event.stopPropagation()
      screen.blur()
    }
    element.addEventListener('keydown', leave, true)
    return () => {
      element.removeEventListener('keydown', leave, true)
      screen.removeEventListener('disconnect', onDisconnect)
      screen.disconnect()
    }
  }, [url])
  return (
    <>
      <section ref={container} className={css['screen']} aria-label={label} />
      <Button variant="default" size="xs" style={{ alignSelf: 'flex-start' }} onClick={() => rfb.current?.sendCtrlAltDel()}>
        {vmMessages.console.ctrlAltDel}
      </Button>
    </>
  )
}
