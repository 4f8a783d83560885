// Asks the person at the terminal, on stderr: stdout is for data.
import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'
import type { Io } from './io.ts'
import { harmless } from './style.ts'

export async function ask({ stdin, stderr }: Io, question: string, { hidden = false } = {}): Promise<string> {
  stderr.write(harmless(question))
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() })
  const echo = new Writable({
    write(chunk: Buffer, _encoding, done) {
      stderr.write(chunk.toString())
      done()
    },
  })
  const lines = createInterface({ input: stdin, output: hidden ? nowhere : echo, terminal: true })
  try {
    return await lines.question('')
  } finally {
    lines.close()
    if (hidden) stderr.write('\n')
  }
}

export async function readAll(stdin: NodeJS.ReadStream): Promise<string> {
  let text = ''
  for await (const chunk of stdin.setEncoding('utf8')) text += String(chunk)
  return text.trim()
}
