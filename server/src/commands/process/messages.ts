// What `up`, which stays root, and the process of API and worker, which has no root, tell each other over their IPC channel.
import type { Holder } from '../port-owner.ts'

export interface Start {
  url: string
  /** Hexadecimal. */
  masterKey: string
}

export interface Ready {
  api: string | null
  metrics: string | null
}

/** What the process without root may ask for, and what it gets; a connection comes as the handle of the message. */
export interface Questions {
  connect: { given: string; answer: null }
  portHolder: { given: number; answer: Holder | null }
}

export type Question = { [Name in keyof Questions]: { ask: Name; id: number; given: Questions[Name]['given'] } }[keyof Questions]
export type Answer = { id: number; answer: unknown } | { id: number; error: string }

export type ToService = { start: Start } | { building: string } | { built: string } | Answer
export type FromService = { ready: Ready } | { failed: string } | Question
