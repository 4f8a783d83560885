import RFB from '@novnc/novnc'
import { useEffect, useEffectEvent, useImperativeHandle, useRef } from 'react'
import { sleep } from '../../ui/sleep.ts'
import { isLeaveKey, type ConsoleScreenProps } from './console-screen.ts'
import css from './console.module.css'
import { COMBINATIONS, KEYS, strokesOf } from './keysyms.ts'

/** A guest that boots reads keys no faster. */
const STROKE_MS = 8

export default function Vnc({ url, label, ref, onConnected, onClosed }: ConsoleScreenProps) {
  const container = useRef<HTMLDivElement>(null)
  const rfb = useRef<RFB | null>(null)
  const connected = useEffectEvent(onConnected)
  const closed = useEffectEvent(onClosed)
  useEffect(() => {
    const element = container.current!
    // A socket of our own: noVNC does not pass on with which code it was closed.
    const socket = new WebSocket(url)
    const screen = new RFB(element, socket)
    rfb.current = screen
    screen.scaleViewport = true
    screen.background = 'transparent'
    screen.addEventListener('connect', () => {
      connected()
      screen.focus()
    })
    const onClose = ({ code, reason }: CloseEvent): void => closed(code, reason)
    socket.addEventListener('close', onClose)
    const leave = (event: KeyboardEvent): void => {
      if (!isLeaveKey(event)) return
      event.stopPropagation()
      screen.blur()
    }
    element.addEventListener('keydown', leave, true)
    return () => {
      rfb.current = null
      element.removeEventListener('keydown', leave, true)
      socket.removeEventListener('close', onClose)
      screen.disconnect()
    }
  }, [url])
  useImperativeHandle(ref, () => ({
    focus: () => rfb.current?.focus(),
    type: async (text) => {
      for (const { keysym, shift } of strokesOf(text)) {
        if (shift) rfb.current?.sendKey(KEYS.ShiftLeft, 'ShiftLeft', true)
        rfb.current?.sendKey(keysym, '')
        if (shift) rfb.current?.sendKey(KEYS.ShiftLeft, 'ShiftLeft', false)
        await sleep(STROKE_MS)
      }
    },
    press: (combination) => {
      const keys = COMBINATIONS[combination] ?? []
      for (const key of keys) rfb.current?.sendKey(KEYS[key], key, true)
      for (const key of keys.toReversed()) rfb.current?.sendKey(KEYS[key], key, false)
    },
    text: () => null,
  }))
  return <section ref={container} className={css['screen']} aria-label={label} />
}
