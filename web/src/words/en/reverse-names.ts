export const reverseNameMessages = {
  title: 'Reverse DNS',
  about: 'What the name server says these addresses are called (PTR). Mail servers want the name that points to the address.',
  none: 'No name',
  set: 'Set reverse name',
  setOf: (address: string) => `Set reverse name of ${address}`,
  name: 'Host name',
  nameHint: 'Such as mail.example.com; leave empty for none',
  states: { PENDING: 'Pending', SET: 'Set', FAILED: 'Not set' },
} as const
