// Shared by the serial and the VNC console.
import type { Ref } from 'react'

/** What the toolbar asks of a screen. */
export interface ConsoleScreen {
  focus(): void
  /** Types it, as fast as a guest reads. */
  type(text: string): Promise<void>
  /** Of the menu of key combinations. */
  press(combination: string): void
  /** What is selected, or else all that was written; null where the screen is a picture. */
  text(): string | null
}

export interface ConsoleScreenProps {
  url: string
  label: string
  fontSize: number
  ref: Ref<ConsoleScreen>
  onConnected: () => void
  onClosed: (code: number, reason: string) => void
  /** The browser's own paste, where it needs a question first. */
  onPaste: (text: string) => void
}

/** The console captures Tab, so keyboard users leave with Ctrl+Shift+Escape. */
export const isLeaveKey = ({ ctrlKey, shiftKey, key }: KeyboardEvent): boolean => ctrlKey && shiftKey && key === 'Escape'

export const PASTE_LIMIT = 16_384
const LINES_WITHOUT_QUESTION = 3

const LINE_END = /\r\n?|\n/
const LINE_END_AT_END = /(?:\r\n?|\n)$/

export const linesOf = (text: string): number => text.replace(LINE_END_AT_END, '').split(LINE_END).length

/** Much of it, or many lines that a shell would carry out one after another. */
export const needsQuestion = (text: string): boolean => text.length > PASTE_LIMIT || linesOf(text) > LINES_WITHOUT_QUESTION

/** A colour of the design scale as it is in the present theme. */
export const colourOf = (name: string): string => getComputedStyle(document.documentElement).getPropertyValue(name).trim()
