// The load: a process that sends requests on keep-alive connections, each the next as soon as the last is answered. Plain sockets,
// so that it takes as little of the machine as can be.
import { connect } from 'node:net'
import { answerParent } from './vms-process.ts'

export interface Load {
  port: number
  token: string
  method: 'GET' | 'POST'
  /** Asked in turns. */
  paths: string[]
  body?: string
  connections: number
  /** Whichever ends first. */
  ms?: number
  count?: number
}

export interface Loaded {
  requests: number
  perSecond: number
  p50: number
  p99: number
}

function requestFor({ method, token, body = '' }: Load, path: string): Buffer {
  const length = method === 'POST' ? `content-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n` : ''
  return Buffer.from(`${method} ${path} HTTP/1.1\r\nhost: localhost\r\nx-api-key: ${token}\r\n${length}\r\n${body}`)
}

async function run(load: Load): Promise<Loaded> {
  const requests = load.paths.map((path) => requestFor(load, path))
  const latencies: number[] = []
  const begun = performance.now()
  const until = begun + (load.ms ?? 600_000)
  let sent = 0
  const next = (): Buffer | null =>
    sent >= (load.count ?? Infinity) || performance.now() >= until ? null : requests[sent++ % requests.length]!
  await Promise.all(Array.from({ length: load.connections }, () => connection(load.port, next, (ms) => latencies.push(ms))))
  const seconds = (performance.now() - begun) / 1000
  latencies.sort((a, b) => a - b)
  const at = (share: number): number => latencies[Math.min(latencies.length - 1, Math.floor(latencies.length * share))]!
  return { requests: latencies.length, perSecond: latencies.length / seconds, p50: at(0.5), p99: at(0.99) }
}

function connection(port: number, next: () => Buffer | null, answered: (ms: number) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true })
    let sentAt = 0
    let received = ''
    const send = (): void => {
      const request = next()
      if (!request) return void socket.end(resolve)
      received = ''
      sentAt = performance.now()
      socket.write(request)
    }
    socket.setEncoding('latin1') // one character is one byte
    socket.on('connect', send)
    socket.on('error', reject)
    socket.on('data', (more: string) => {
      received += more
      const head = received.indexOf('\r\n\r\n')
      if (head < 0 || received.length < head + 4 + Number(/content-length: (\d+)/i.exec(received)?.[1])) return
      if (!received.startsWith('HTTP/1.1 2')) return reject(new Error(`refused: ${received}`))
      answered(performance.now() - sentAt)
      send()
    })
  })
}

answerParent(run)
