/** What the site of documentation has, in the order of its menu. A page that is in no section fails the build. */
export const SECTIONS = [
  {
    title: 'Tutorials',
    pages: [
      'README.md',
      'docs/portal.md',
      'docs/tutorial-scientist.md',
      'docs/tutorial-portal.md',
      'examples/portal/README.md',
    ],
  },
  {
    title: 'How to',
    pages: [
      'docs/how-to/everyday-tasks.md',
      'docs/how-to/from-slurm.md',
      'docs/how-to/wait-for-other-jobs.md',
      'docs/how-to/webhooks.md',
      'docs/how-to/register-an-application.md',
      'docs/how-to/sign-in-with-openid-connect.md',
      'docs/how-to/connect-an-identity-provider.md',
      'docs/how-to/storage.md',
      'docs/how-to/open-a-storage.md',
      'docs/how-to/deploy.md',
      'docs/how-to/kubernetes.md',
      'docs/how-to/operate.md',
      'docs/how-to/backup-and-restore.md',
      'docs/how-to/add-a-site.md',
      'docs/how-to/migrate-from-restdirac.md',
    ],
  },
  {
    title: 'Reference',
    pages: [
      'docs/reference/api/README.md',
      'docs/command.md',
      'docs/command-reference.md',
      'docs/reference/typescript/README.md',
      'packages/gridgate-client/README.md',
      'packages/gridgate-oauth2/README.md',
      'docs/client.md',
      'python/README.md',
      'docs/reference/python/README.md',
      'docs/configuration.md',
      'docs/registry.md',
      'docs/administration.md',
      'docs/manifest.md',
      'docs/job-states.md',
      'docs/errors.md',
      'docs/tokens.md',
      'docs/feeds.md',
      'docs/audit.md',
      'docs/tenant-matrix.md',
      'docs/conformance.md',
      'docs/deployment.md',
    ],
  },
  {
    title: 'Explanations',
    pages: [
      'docs/explanation/job-states.md',
      'docs/job-guarantees.md',
      'docs/fair-shares.md',
      'docs/explanation/catalogue-semantics.md',
      'docs/explanation/security-model.md',
      'docs/explanation/what-a-job-can-do.md',
      'docs/ARCHITECTURE.md',
      'docs/performance.md',
      'docs/catalogue-performance.md',
      'docs/jobs-query-plans.md',
    ],
  },
  {
    title: 'Project',
    pages: [
      'CHANGELOG.md',
      'docs/design/tests.md',
      'docs/design/http.md',
      'docs/design/openapi.md',
      'docs/design/events.md',
      'docs/design/audit.md',
      'docs/design/runtime.md',
      'docs/design/database.md',
      'docs/design/http-client.md',
      'docs/design/oauth2-client.md',
      'docs/design/id-provider.md',
      'docs/design/x509.md',
      'docs/design/registry.md',
      'docs/design/auth.md',
      'docs/design/jobs.md',
      'docs/design/running-jobs.md',
      'docs/design/file-catalogue.md',
      'docs/design/data.md',
      'docs/design/webhooks.md',
      'docs/design/workers.md',
      'docs/design/clients.md',
      'CONTRIBUTING.md',
      'docs/STYLE.md',
      'bench/README.md',
      'SECURITY.md',
    ],
  },
];

/** Pages that their section's first page lists, so that the menu stays short. */
export const LISTED_ELSEWHERE = ['docs/reference/'];

/** The page that the site begins with. */
export const FIRST_PAGE = 'docs/README.md';

/** Files that pages show or link and that go along as they are. */
export const ASSETS = /^docs\/(?:openapi\.json|pictures\/[\w-]+\.(?:png|svg))$/;

/** Where a page of the sources is on the site. */
export function addressOf(source) {
  if (source === 'README.md') return 'start.html';
  return source
    .replace(/^docs\//, '')
    .replace(/README\.md$/, 'index.html')
    .replace(/\.md$/, '.html');
}
