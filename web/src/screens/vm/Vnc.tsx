import { Button } from '@mantine/core'
import RFB from '@novnc/novnc'
import { useEffect, useRef } from 'react'
import { vmMessages } from '../../messages/vm.ts'
import { isLeaveKey, type ConsoleScreenProps } from './console-screen.ts'
import css from './vm.module.css'

export default function Vnc({ url, label, onConnected, onClosed }: ConsoleScreenProps) {
  const place = useRef<HTMLDivElement>(null)
  const rfb = useRef<RFB | null>(null)
  const tell = useRef({ onConnected, onClosed })
  tell.current = { onConnected, onClosed }
  useEffect(() => {
    const element = place.current!
    const screen = new RFB(element, url)
    rfb.current = screen
    screen.scaleViewport = true
    screen.background = '#0b1110'
    screen.addEventListener('connect', () => {
      tell.current.onConnected()
      screen.focus()
    })
    const closed = (): void => tell.current.onClosed('')
    screen.addEventListener('disconnect', closed)
    const leave = (event: KeyboardEvent): void => {
      if (!isLeaveKey(event)) return
      event.stopPropagation()
      screen.blur()
    }
    element.addEventListener('keydown', leave, true)
    return () => {
      element.removeEventListener('keydown', leave, true)
      screen.removeEventListener('disconnect', closed)
      screen.disconnect()
    }
  }, [url])
  return (
    <>
      <div ref={place} className={css['screen']} role="region" aria-label={label} />
      <Button variant="default" size="xs" style={{ alignSelf: 'flex-start' }} onClick={() => rfb.current?.sendCtrlAltDel()}>
        {vmMessages.console.ctrlAltDel}
      </Button>
    </>
  )
}
