import type { Project } from './schema.ts'
import type { ProjectRow } from './sql.ts'

export const toEventProject = ({ id, name, created_at }: Omit<ProjectRow, 'vm_count'>) => ({
  id,
  name,
  createdAt: created_at.toISOString(),
})

export const toProject = (row: ProjectRow): Project => ({ ...toEventProject(row), vmCount: row.vm_count })
