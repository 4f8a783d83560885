export const labelMessages = {
  labels: 'Labels',
  edit: 'Edit labels',
  of: (name: string) => `Labels of ${name}`,
  about: 'Keys with values, such as env=prod. They select resources in lists, for webhooks and for actions on many VMs.',
  hint: 'env=prod',
  filter: 'Filter by labels',
  filterHint: 'env=prod,!old',
  filterAbout: 'env=prod, env!=prod, env in (prod,test), env or !env, separated by commas',
  filterBy: (label: string) => `Show those with ${label}`,
  noneTitle: 'None with these labels',
  noneAbout: 'Choose other labels, or show all.',
} as const
