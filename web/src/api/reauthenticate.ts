// Some writes need a password that was given just now. They are refused first; then the reader is asked, and they are sent again.
import { isCode } from './errors.ts'

type Ask = () => Promise<boolean>
let askForPassword: Ask = () => Promise.resolve(false)

/** The dialog of the shell puts itself here. */
export function setAsker(ask: Ask): () => void {
  askForPassword = ask
  return () => {
    askForPassword = () => Promise.resolve(false)
  }
}

export async function withPassword<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!isCode(error, 'reauthentication_required') || !(await askForPassword())) throw error
    return work()
  }
}
