import { actionTitles } from '../words/words.ts'
import { formatConstant } from './format.ts'

/** An action that this dashboard does not know is shown by its constant. */
export const actionTitle = (action: string): string => actionTitles[action] ?? formatConstant(action)
