export { FileCatalogueModule } from './file-catalogue.module.js';
export { NamespaceService } from './namespace/namespace.service.js';
export { DemoCatalogue } from './demo-catalogue.js';
