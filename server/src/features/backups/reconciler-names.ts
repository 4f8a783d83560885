// What the reconcilers of backups are called by those who nudge them.
export const DAILY = 'backups.daily'
export const REMOVE = 'backups.purge'
