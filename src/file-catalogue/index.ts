export {
  CATALOGUE_PATH_PARAMETERS,
  CATALOGUE_SCHEMAS,
  CLOSED_CATALOGUE_BODIES,
} from './openapi/catalogue.openapi.js';
export { FileCatalogueModule } from './file-catalogue.module.js';
export { CatalogueStorageRights } from './namespace/storage-rights.service.js';
export { NamespaceService } from './namespace/namespace.service.js';
export { DemoCatalogue } from './demo/demo-catalogue.js';
export { ExportService } from './exchange/export.service.js';
export { ImportService } from './exchange/import.service.js';
export { LISTING_FORMATS, type ListingFormat } from './exchange/listing-columns.js';
export type { BulkSummary } from './exchange/bulk.service.js';
export { MoveService } from './moves/move.service.js';
export { VerificationService } from './totals/verification.service.js';
export { CatalogueFeed } from './feed/catalogue-feed.js';
export { CatalogueSelectionQuery } from './feed/catalogue-events.query.js';
export { CatalogueTeller } from './feed/catalogue-teller.service.js';
export type { LoggedChange } from './events/logged-change.js';
