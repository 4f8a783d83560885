export const projectMessages = {
  title: 'Projects',
  about: 'Resources with members and API keys of their own. This account pays for them, and its limits are for all of them together.',
  create: 'Create project',
  created: (name: string) => `Project ${name} created`,
  switchTo: 'Work in project',
  vms: 'VMs',
  emptyTitle: 'No projects yet',
  emptyAbout: 'Create one to let others work on some of your VMs, and on nothing else.',
  rename: (name: string) => `Rename ${name}`,
  delete: 'Delete project',
  deleteTitle: 'Delete project?',
  deleteAbout: (name: string) =>
    `“${name}” can be deleted when nothing is in it. Its members, API keys, webhooks and alerts are deleted with it, and its tickets are closed.`,
  deleted: (name: string) => `Project ${name} deleted`,
} as const
