// API and worker without root. What belongs to root they get from `up`, which started this process: the database's address, the master key,
// and on request connections to the sockets of libvirt and OVN, which come as open file descriptors.
import type { Socket } from 'node:net'
import { readConfig } from '../../config.ts'
import { noteBuilding, noteBuilt } from '../../features/catalog/service.ts'
import { explain } from '../errors.ts'
import { Interrupted } from './lifecycle.ts'
import type { Answer, FromService, Question, Questions, Start, ToService } from './messages.ts'
import { openService, runUntilStopped, type ProcessContext } from './service.ts'

/** Settings are those of `up`, which has checked them. */
export async function serveUnprivileged(): Promise<number> {
  const config = readConfig()
  process.on('disconnect', () => process.exit(1)) // killed with `up`: its successor needs the port at once
  const root = openChannel()
  const serve = async (serving: ProcessContext): Promise<void> => {
    process.channel!.ref()
    try {
      const [compose, start] = await Promise.all([
        import('../../compose.ts'),
        Promise.race([root.started, serving.lifecycle.stopRequested()]),
      ])
      if (!start) return // `up` stops before it has a database
      const { api, metrics } = await openService(compose, serving, start.url, {
        api: true,
        worker: true,
        isOnlyProcess: true,
        root: {
          masterKey: Buffer.from(start.masterKey, 'hex'),
          connect: async (path) => (await root.ask('connect', path)).socket!,
          findPortHolder: async (port) => (await root.ask('portHolder', port)).answer ?? undefined,
        },
      })
      root.tell({ ready: { api, metrics } })
    } catch (error) {
      if (error instanceof Interrupted) throw error
      root.tell({ failed: explain(error) })
      throw new Interrupted('`up` reports it')
    }
  }
  return runUntilStopped(config, serve, { quiet: true })
}

interface Got<Name extends keyof Questions> {
  answer: Questions[Name]['answer']
  socket: Socket | undefined
}

interface Channel {
  started: Promise<Start>
  tell(message: FromService): void
  ask<Name extends keyof Questions>(name: Name, given: Questions[Name]['given']): Promise<Got<Name>>
}

function openChannel(): Channel {
  const { promise: started, resolve: start } = Promise.withResolvers<Start>()
  const waiting = new Map<number, (answer: Answer, socket: Socket | undefined) => void>()
  process.on('message', (message: ToService, socket: Socket | undefined) => {
    if ('start' in message) start(message.start)
    else if ('building' in message) noteBuilding(message.building)
    else if ('built' in message) noteBuilt(message.built)
    else waiting.get(message.id)?.(message, socket)
  })
  let questions = 0
  const tell = (message: FromService): void => void process.send!(message)
  return {
    started,
    tell,
    ask: (name, given) =>
      new Promise((resolve, reject) => {
        const id = ++questions
        waiting.set(id, (answer, socket) => {
          waiting.delete(id)
          if ('error' in answer) reject(new Error(answer.error))
          else resolve({ answer: answer.answer as never, socket })
        })
        tell({ ask: name, id, given } as Question)
      }),
  }
}
