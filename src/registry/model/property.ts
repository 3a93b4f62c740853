/** The closed list of group properties that this service knows. */
export const PROPERTIES = [
  'NormalUser',
  'JobSharing',
  'JobMonitor',
  'JobAdministrator',
  'ServiceAdministrator',
  'FileCatalogManagement',
] as const;

/**
 * What the members of a group may do: NormalUser submits and keeps own jobs; JobSharing shares jobs inside the
 * group; JobMonitor reads all jobs; JobAdministrator reads and kills all jobs but does not submit;
 * ServiceAdministrator runs the service; FileCatalogManagement writes the whole catalogue. In a group of a virtual
 * organisation `all` is what belongs to it, unless ServiceAdministrator is there too.
 */
export type Property = (typeof PROPERTIES)[number];

/** True for a word of the closed list. */
export function isProperty(word: string): word is Property {
  return (PROPERTIES as readonly string[]).includes(word);
}
