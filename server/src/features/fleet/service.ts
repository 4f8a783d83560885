export { previewBalance, startBalance } from './balance.ts'
export { cancelDrain, findDrainStatus, MAX_CONCURRENCY, previewDrain, startDrain, type DrainPreview, type DrainStatus } from './drain.ts'
export { openDrains as listOpenDrains } from './sql.ts'
