import { type Config, readConfig } from '../config.ts'
import { UsageError } from './errors.ts'

export function loadConfig(): Config {
  try {
    return readConfig()
  } catch (error) {
    throw new UsageError((error as Error).message, { cause: error })
  }
}
