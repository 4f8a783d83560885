import type { BudgetView } from '../budgets/schema.ts'
import { toLimits, type Budget } from '../budgets/service.ts'
import type { Project } from './schema.ts'
import type { ProjectRow } from './sql.ts'

const shared = ({ id, name, created_at }: Omit<ProjectRow, 'vm_count'>) => ({ id, name, createdAt: created_at.toISOString() })

export const toEventProject = (row: Omit<ProjectRow, 'vm_count'>, budget: Budget | null) => ({
  ...shared(row),
  budget: budget && toLimits(budget),
})

export const toProject = (row: ProjectRow, budget: BudgetView | null): Project => ({ ...shared(row), budget, vmCount: row.vm_count })
