// Prompts on stderr, because stdout is for data. When stderr is redirected, /dev/tty is used.
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
  const lines = createInterface({ input: io.stdin, output: echo, terminal: true }) // turns off the terminal's own echo
  if (hidden) write(shown) // otherwise readline prints it, after clearing the line
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
    throw usageError('Cannot prompt: no terminal is available. Use --yes to confirm, or pass secrets on stdin')
  }
}

export async function readStdin(stdin: NodeJS.ReadStream): Promise<string> {
  let text = ''
  for await (const chunk of stdin.setEncoding('utf8')) text += String(chunk)
  return text.trim()
}
