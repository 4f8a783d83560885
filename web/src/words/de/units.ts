import type { unitMessages as en } from '../en/units.ts'
import type { Translated } from '../translated.ts'

export const unitMessages: Translated<typeof en> = {
  unmetered: 'Unbegrenzt',
  vcpu: (count) => `${count}\u00a0vCPU`,
  dedicatedVcpu: (count) => `${count}\u00a0dedizierte\u00a0vCPU`,
  justNow: 'gerade eben',
}
