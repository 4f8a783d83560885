import type { Vm } from '@berth/sdk'
import { useQuery } from '@tanstack/react-query'
import { templatesQuery } from '../../queries/catalog.ts'
import { bootableImagesQuery, templateSlugOf } from '../../queries/images.ts'

/** The default user of the image, or of the rescue system. */
export function useLoginUser({ osTemplate, rescue }: Vm): string | undefined {
  const template = useQuery(templatesQuery).data?.find(({ slug }) => slug === osTemplate.slug)
  const image = useQuery(bootableImagesQuery).data?.find((each) => templateSlugOf(each) === osTemplate.slug)
  return rescue?.user ?? template?.defaultUser ?? image?.defaultUser ?? undefined
}
