export { previewBalance, startBalance } from './balance.ts'
export { cancelDrain, findDrainStatus, MAX_CONCURRENCY, previewDrain, startDrain, type DrainPreview, type DrainStatus } from './drain.ts'
