export { AdministrationModule } from './administration.module.js';
export { SiteReports, type SiteReport } from './sites/site-reports.js';
