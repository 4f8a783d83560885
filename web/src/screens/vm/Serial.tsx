import { useComputedColorScheme } from '@mantine/core'
import { FitAddon } from '@xterm/addon-fit'
import { Terminal } from '@xterm/xterm'
import '@xterm/xterm/css/xterm.css'
import { useEffect, useEffectEvent, useImperativeHandle, useRef } from 'react'
import { sleep } from '../../ui/sleep.ts'
import { colourOf, isLeaveKey, needsQuestion, type ConsoleScreenProps } from './console-screen.ts'
import css from './console.module.css'
import { CONTROL_CHARACTERS } from './keysyms.ts'

/** The buffer of a serial line holds little, and nothing tells when it is full. */
const CHUNK = 64
const CHUNK_MS = 12

const encoder = new TextEncoder()

export default function Serial({ url, label, fontSize, ref, onConnected, onClosed, onPaste }: ConsoleScreenProps) {
  const container = useRef<HTMLDivElement>(null)
  const shown = useRef<{ terminal: Terminal; look: (fontSize: number) => void; send: (text: string) => void } | null>(null)
  const connected = useEffectEvent(onConnected)
  const closed = useEffectEvent(onClosed)
  const pasted = useEffectEvent(onPaste)
  const size = useEffectEvent(() => fontSize)
  const scheme = useComputedColorScheme('light')
  useEffect(() => {
    const element = container.current!
    const terminal = new Terminal({
      cursorBlink: !matchMedia('(prefers-reduced-motion: reduce)').matches,
      fontSize: size(),
      fontFamily: colourOf('--font-mono'),
      scrollback: 5_000,
      screenReaderMode: true,
    })
    const fit = new FitAddon()
    terminal.loadAddon(fit)
    terminal.open(element)
    fit.fit()
    const socket = new WebSocket(url)
    socket.binaryType = 'arraybuffer'
    const send = (text: string): void => {
      if (socket.readyState === socket.OPEN) socket.send(encoder.encode(text))
    }
    socket.onopen = () => {
      connected()
      terminal.focus()
    }
    socket.onmessage = ({ data }: MessageEvent<ArrayBuffer | string>) =>
      terminal.write(typeof data === 'string' ? data : new Uint8Array(data))
    socket.onclose = ({ code, reason }) => closed(code, reason)
    terminal.onData(send)
    terminal.attachCustomKeyEventHandler((event) => {
      if (!isLeaveKey(event)) return true
      terminal.blur()
      return false
    })
    const paste = (event: ClipboardEvent): void => {
      const text = event.clipboardData?.getData('text') ?? ''
      if (!needsQuestion(text)) return
      event.preventDefault()
      event.stopPropagation()
      pasted(text)
    }
    element.addEventListener('paste', paste, true)
    const resize = new ResizeObserver(() => fit.fit())
    resize.observe(element)
    const look = (points: number): void => {
      terminal.options.theme = {
        background: colourOf('--terminal'),
        foreground: colourOf('--terminal-ink'),
        cursor: colourOf('--brand-4'),
      }
      terminal.options.fontSize = points
      fit.fit()
    }
    shown.current = { terminal, look, send }
    return () => {
      shown.current = null
      resize.disconnect()
      element.removeEventListener('paste', paste, true)
      socket.onclose = null
      socket.close()
      terminal.dispose()
    }
  }, [url])
  useEffect(() => shown.current?.look(fontSize), [url, scheme, fontSize])
  useImperativeHandle(ref, () => ({
    focus: () => shown.current?.terminal.focus(),
    type: async (text) => {
      const characters = Array.from(text.replace(/\r\n?|\n/g, '\r'))
      for (let start = 0; start < characters.length; start += CHUNK) {
        shown.current?.send(characters.slice(start, start + CHUNK).join(''))
        await sleep(CHUNK_MS)
      }
    },
    press: (combination) => shown.current?.send(CONTROL_CHARACTERS[combination] ?? ''),
    text: () => (shown.current ? textOf(shown.current.terminal) : ''),
  }))
  return <section ref={container} className={css['screen']} aria-label={label} />
}

/** Lines that the terminal wrapped are one again. */
function textOf(terminal: Terminal): string {
  if (terminal.hasSelection()) return terminal.getSelection()
  const { active } = terminal.buffer
  let text = ''
  for (let index = 0; index < active.length; index++) {
    const line = active.getLine(index)
    if (!line) continue
    text += `${line.isWrapped || index === 0 ? '' : '\n'}${line.translateToString(true)}`
  }
  return `${text.trimEnd()}\n`
}
