// Names of the backup reconcilers, for callers that trigger them.
export const DAILY = 'backups.daily'
export const REMOVE = 'backups.purge'
