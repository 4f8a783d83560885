// Asks the person at the terminal, on stderr: stdout is for data. Where stderr goes elsewhere, the terminal itself is asked for.
import { closeSync, openSync, writeSync } from 'node:fs'
import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'
import { usageError } from './exit-codes.ts'
import type { Io } from './io.ts'
import { sanitizeTerminal } from './style.ts'

export async function prompt(io: Io, question: string, { hidden = false } = {}): Promise<string> {
  const { write, close } = openTerminal(io)
  const shown = sanitizeTerminal(question)
  const echo = new Writable({
    write(chunk: Buffer, _encoding, done) {
      if (!hidden) write(chunk.toString())
      done()
    },
  })
  const lines = createInterface({ input: io.stdin, output: echo, terminal: true }) // from here on the terminal shows nothing by itself
  if (hidden) write(shown) // else readline writes it: it clears the line that it begins
  try {
    return await lines.question(hidden ? '' : shown)
  } finally {
    lines.close()
    if (hidden) write('\n')
    close()
  }
}

interface Terminal {
  write: (text: string) => unknown
  close: () => void
}

function openTerminal({ stderr }: Io): Terminal {
  if (stderr.isTTY) return { write: (text) => stderr.write(text), close: () => {} }
  try {
    const terminal = openSync('/dev/tty', 'w')
    return { write: (text) => writeSync(terminal, text), close: () => closeSync(terminal) }
  } catch {
    throw usageError('Nobody can be asked, because stderr is no terminal. Answer beforehand: with --yes, or a secret by stdin')
  }
}

export async function readStdin(stdin: NodeJS.ReadStream): Promise<string> {
  let text = ''
  for await (const chunk of stdin.setEncoding('utf8')) text += String(chunk)
  return text.trim()
}
