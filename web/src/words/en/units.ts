export const unitMessages = {
  unmetered: 'Unmetered',
  vcpu: (count: string) => `${count}\u00a0vCPU`,
  dedicatedVcpu: (count: string) => `${count}\u00a0dedicated vCPU`,
  justNow: 'just now',
} as const
