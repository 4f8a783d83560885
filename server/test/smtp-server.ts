// An SMTP server on a real socket. It records every accepted email and responds as configured; with a certificate it offers STARTTLS, with
// a user it requires authentication.
import { once } from 'node:events'
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { createSecureContext, TLSSocket } from 'node:tls'
import { afterAll } from 'vitest'

export interface ReceivedMail {
  from: string
  to: string[]
  /** Headers and body as received, dot-unstuffed. */
  data: string
  isEncrypted: boolean
}

/** Responses to override: a line per command, or null to close the connection. */
export type Answers = Partial<Record<'GREETING' | 'EHLO' | 'AUTH' | 'MAIL' | 'RCPT' | 'DATA' | 'END', string | null>>

interface Options {
  certificate?: { cert: string; key: string }
  user?: { name: string; password: string }
}

export async function smtpServer(options: Options = {}) {
  const received: ReceivedMail[] = []
  const commands: string[] = []
  const sockets = new Set<Socket>()
  let answers: Answers = {}
  let server: Server
  let port = 0

  const start = async (): Promise<void> => {
    server = createServer((socket) => {
      sockets.add(socket)
      socket.on('error', () => {}) // closed by either side
      socket.on('close', () => sockets.delete(socket))
      converse(socket, { greet: true, isEncrypted: false })
    })
    server.listen(port, '127.0.0.1')
    await once(server, 'listening')
    port = (server.address() as AddressInfo).port
  }
  const stop = async (): Promise<void> => {
    for (const socket of sockets) socket.destroy()
    server.close()
    await once(server, 'close')
  }

  function converse(socket: Socket, { greet, isEncrypted }: { greet: boolean; isEncrypted: boolean }): void {
    let [text, mail, inData] = ['', { from: '', to: [] as string[] }, false]
    const say = (verb: keyof Answers | null, usual: string): boolean => {
      const line = verb && verb in answers ? answers[verb]! : usual
      if (line === null) socket.destroy()
      else socket.write(`${line}\r\n`)
      return line === usual
    }
    const offers = [options.certificate && !isEncrypted && 'STARTTLS', options.user && 'AUTH PLAIN', 'SMTPUTF8', '8BITMIME'].filter(Boolean)
    const replies: Record<string, (argument: string) => void> = {
      EHLO: () => say('EHLO', ['localhost', ...offers].map((each, i, all) => `250${i < all.length - 1 ? '-' : ' '}${each}`).join('\r\n')),
      MAIL: (argument) => {
        mail = { from: addressIn(argument), to: [] }
        say('MAIL', '250 OK')
      },
      RCPT: (argument) => {
        if (say('RCPT', '250 OK')) mail.to.push(addressIn(argument))
      },
      DATA: () => void (inData = say('DATA', '354 Go ahead')),
      AUTH: (argument) => {
        const [, name, password] = Buffer.from(argument.split(' ')[1] ?? '', 'base64')
          .toString()
          .split('\0')
        const known = name === options.user?.name && password === options.user?.password
        say('AUTH', known ? '235 Welcome' : '535 Wrong name or password')
      },
      STARTTLS: () => {
        say(null, '220 Go ahead')
        socket.removeAllListeners('data')
        const secure = new TLSSocket(socket, { isServer: true, secureContext: createSecureContext(options.certificate!) })
        secure.on('error', () => {}) // a client that does not trust the certificate
        converse(secure, { greet: false, isEncrypted: true })
      },
      RSET: () => say(null, '250 OK'),
      NOOP: () => say(null, '250 OK'),
      QUIT: () => void socket.end('221 Bye\r\n'),
    }
    const takeMail = (data: string): void => {
      if (say('END', '250 Taken')) received.push({ ...mail, data: data.replace(/^\.\./gm, '.'), isEncrypted })
      inData = false
    }
    const takeLine = (line: string): void => {
      commands.push(line)
      const [verb, argument] = [line.split(' ')[0]!.toUpperCase(), line.slice(line.indexOf(' ') + 1)]
      if (Object.hasOwn(replies, verb)) replies[verb]!(argument)
      else say(null, '502 Not known here')
    }
    socket.on('data', (chunk: Buffer) => {
      text += chunk.toString()
      for (;;) {
        const end = text.indexOf(inData ? '\r\n.\r\n' : '\r\n')
        if (end < 0) return
        const piece = text.slice(0, end)
        text = text.slice(end + (inData ? 5 : 2))
        if (inData) takeMail(piece)
        else takeLine(piece)
      }
    })
    if (greet) say('GREETING', '220 localhost ESMTP')
  }

  await start()
  afterAll(() => (server.listening ? stop() : undefined))
  return {
    url: (credentials = '') => `smtp://${credentials}127.0.0.1:${port}`,
    received,
    commands,
    answer: (next: Answers) => void (answers = next),
    start,
    stop,
  }
}

const addressIn = (argument: string): string => /<([^>]*)>/.exec(argument)?.[1] ?? ''

/** The headers of an email, unfolded. */
export const headersOf = ({ data }: ReceivedMail): string[] =>
  data
    .split('\r\n\r\n')[0]!
    .replace(/\r\n[ \t]+/g, ' ')
    .split('\r\n')

export const headerOf = (mail: ReceivedMail, name: string): string | undefined =>
  headersOf(mail)
    .find((each) => each.toLowerCase().startsWith(`${name.toLowerCase()}:`))
    ?.slice(name.length + 1)
    .trim()
