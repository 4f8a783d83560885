import { queryOptions } from '@tanstack/react-query'
import { apiRequest } from './request.ts'

export interface ApiKey {
  id: string
  name: string
  prefix: string
  scopes: string[]
  isActive: boolean
  expiresAt: string | null
  revokedAt: string | null
  lastUsedAt: string | null
  lastUsedFrom: string | null
  allowedIps: string[]
  createdAt: string
}

export interface NewApiKey extends ApiKey {
  secret: string
}

export interface Scope {
  scope: string
  resource: string
  verb: string
}

export const keysQuery = queryOptions({ queryKey: ['api-keys'], queryFn: () => apiRequest<ApiKey[]>('GET', '/api-keys') })
export const scopesQuery = queryOptions({ queryKey: ['scopes'], queryFn: () => apiRequest<Scope[]>('GET', '/scopes'), staleTime: Infinity })
