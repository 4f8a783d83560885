import { FitAddon } from '@xterm/addon-fit'
import { Terminal } from '@xterm/xterm'
import '@xterm/xterm/css/xterm.css'
import { useEffect, useEffectEvent, useRef } from 'react'
import { isLeaveKey, type ConsoleScreenProps } from './console-screen.ts'
import css from './vm.module.css'

export default function Serial({ url, label, onConnected, onClosed }: ConsoleScreenProps) {
  const container = useRef<HTMLDivElement>(null)
  const connected = useEffectEvent(onConnected)
  const closed = useEffectEvent(onClosed)
  useEffect(() => {
    const element = container.current!
    const terminal = new Terminal({
      cursorBlink: true,
      fontSize: 13,
      fontFamily: '"JetBrains Mono", ui-monospace, Menlo, Consolas, monospace',
      theme: { background: '#0b1110', foreground: '#d9e4e1', cursor: '#55c0a9' },
      screenReaderMode: true,
    })
    const fit = new FitAddon()
    terminal.loadAddon(fit)
    terminal.open(element)
    fit.fit()
    const socket = new WebSocket(url)
    socket.binaryType = 'arraybuffer'
    const encoder = new TextEncoder()
    socket.onopen = () => {
      connected()
      terminal.focus()
    }
    socket.onmessage = ({ data }: MessageEvent<ArrayBuffer | string>) =>
      terminal.write(typeof data === 'string' ? data : new Uint8Array(data))
    socket.onclose = ({ reason }) => closed(reason)
    terminal.onData((text) => socket.readyState === socket.OPEN && socket.send(encoder.encode(text)))
    terminal.attachCustomKeyEventHandler((event) => {
      if (!isLeaveKey(event)) return true
      terminal.blur()
      return false
    })
    const resize = new ResizeObserver(() => fit.fit())
    resize.observe(element)
    return () => {
      resize.disconnect()
      socket.onclose = null
      socket.close()
      terminal.dispose()
    }
  }, [url])
  return <section ref={container} className={css['screen']} aria-label={label} />
}
