export { AdministrationModule } from './administration.module.js';
export { ADMINISTRATION_PATH_PARAMETERS } from './answer/administration.openapi.js';
export { SiteReports, type SiteReport } from './sites/site-reports.js';
