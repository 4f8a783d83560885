/** "1 file", "2 files", "0 files". */
export const counted = (count: number | bigint, one: string, many = `${one}s`): string => `${count} ${Number(count) === 1 ? one : many}`
