import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import type { INestApplication } from '@nestjs/common';
import { DocumentBuilder, SwaggerModule, type OpenAPIObject } from '@nestjs/swagger';
import type { RequestHandler } from 'express';
import { Asset, isRead } from './asset.js';
import { compressedFiles } from './compressed-files.js';
import { completeOpenApi } from './openapi-completion.js';
import type { OpenApiSchema } from './openapi-errors.js';

const DESCRIPTION = [
  'Jobs and file catalogue of a computing grid over HTTPS and JSON, secured by OAuth2.',
  '',
  'Get a token with your certificate (`GET /oauth2/token`) or press **Authorize** to sign in through the consent page.',
  'Errors are `application/problem+json` (RFC 9457) with a `code` of a closed list; below `/oauth2` they also carry',
  '`error` and `error_description` (RFC 6749).',
].join('\n');

/** The headings: the tags of the controllers. */
const TAGS: [name: string, description: string][] = [
  ['jobs', 'Submit, list, read and kill jobs'],
  ['sandboxes', 'Files that go in with a job and come out of it'],
  ['file catalogue', 'Directories, files and their metadata'],
  ['webhooks', 'Receivers that are told of changes'],
  ['administration', 'Users, groups, applications, signing keys, sites and the audit trail'],
  ['authorization', 'Tokens, groups and setups, sign-in pages, published keys'],
  ['health', 'For load balancers and operators'],
];

/** The paths of the specification, in its order; they come before all others. */
const FIRST = [
  '/oauth2/token',
  '/oauth2/groups',
  '/oauth2/setups',
  '/oauth2/auth',
  '/jobs',
  '/jobs/{jid}',
  '/jobs/{jid}/manifest',
  '/jobs/{jid}/inputsandbox',
  '/jobs/{jid}/outputsandbox',
  '/filecatalogue/metadata',
  '/filecatalogue/directory/{directory}',
  '/filecatalogue/directory/{directory}/metadata',
  '/filecatalogue/directory/{directory}/search',
  '/filecatalogue/file/{file}/attributes',
  '/filecatalogue/file/{file}/metadata',
];

/** client_id under which the authorization server knows the page. */
const SWAGGER_CLIENT_ID = 'swagger-ui';

/**
 * The dialog of Authorize focuses its last field and so scrolls past the sign-in, which comes first: a field that is
 * hidden at that moment takes no focus.
 */
const PAGE_STYLE = [
  '.swagger-ui .topbar { display: none }',
  '.swagger-ui .auth-container input { visibility: hidden; animation: shown 0s 0.1s forwards }',
  '@keyframes shown { to { visibility: visible } }',
].join('\n');

/** What Swagger's module makes from the document. */
const GENERATED = new Set([
  '/docs',
  '/docs/swagger-ui-init.js',
  '/docs/openapi.json',
  '/docs/openapi.yaml',
]);

/** What the document says of this installation. */
export interface SwaggerInput {
  version: string;
  publicUrl: string;
  scopes: Record<string, string>;
  /** Named shapes that no class describes. */
  schemas: Record<string, OpenApiSchema>;
}

/** Makes the OpenAPI 3.1 document of all routes. */
export function openApiDocument(app: INestApplication, input: SwaggerInput): OpenAPIObject {
  const flow = {
    authorizationUrl: `${input.publicUrl}/oauth2/auth`,
    tokenUrl: `${input.publicUrl}/oauth2/token`,
    scopes: input.scopes,
  };
  const builder = new DocumentBuilder()
    .setOpenAPIVersion('3.1.0')
    .setTitle('Gridgate')
    .setDescription(DESCRIPTION)
    .setVersion(input.version)
    .setLicense('Apache-2.0', 'https://www.apache.org/licenses/LICENSE-2.0')
    .addServer(input.publicUrl)
    .addOAuth2(
      {
        type: 'oauth2',
        description: 'Sign in and choose group and setup on the consent page (Flow B with PKCE)',
        flows: { authorizationCode: flow },
      },
      'oauth2',
    )
    .addBearerAuth(
      {
        type: 'http',
        scheme: 'bearer',
        bearerFormat: 'JWT',
        description: 'An access token that you have already',
      },
      'bearer',
    )
    .addApiKey(
      {
        type: 'apiKey',
        in: 'query',
        name: 'access_token',
        description: 'The access token as a query parameter; never both. The header is safer',
      },
      'query',
    )
    .addBasicAuth(
      {
        type: 'http',
        scheme: 'basic',
        description:
          'client_id and secret of an application (RFC 6749 §2.3.1); `client_id` with `client_secret` or `client_assertion` in the form do as well',
      },
      'client',
    )
    .addSecurity('certificate', {
      type: 'mutualTLS' as 'http', // OpenAPI 3.1, which the types of the library do not know
      description:
        'A certificate shown in the TLS handshake: of a known user, or of an application (RFC 8705)',
    });
  for (const [name, description] of TAGS) builder.addTag(name, description);
  const document = SwaggerModule.createDocument(app, builder.build(), {
    operationIdFactory: (_controller, method) => method,
    autoTagControllers: false,
  });
  return completeOpenApi({ ...document, paths: inOrder(document.paths) }, input.schemas);
}

function inOrder(paths: OpenAPIObject['paths']): OpenAPIObject['paths'] {
  const rank = (path: string): number => [...FIRST, path].indexOf(path);
  return Object.fromEntries(Object.entries(paths).sort(([a], [b]) => rank(a) - rank(b)));
}

/** What Swagger UI shows and says. */
export interface SwaggerPage {
  publicUrl: string;
  scopes: readonly string[];
  /** Makes the document. */
  describe: (app: INestApplication) => OpenAPIObject;
  /** The texts of the document where they are there already. */
  forms?: { json: string; yaml: string } | undefined;
}

/** Serves Swagger UI at /docs and the document at /docs/openapi.json. */
export function serveSwagger(
  app: INestApplication,
  { publicUrl, scopes, describe, forms }: SwaggerPage,
): void {
  const document = (): OpenAPIObject =>
    forms ? (JSON.parse(forms.json) as OpenAPIObject) : describe(app);
  app.use('/docs', pageHeaders(publicUrl), keepGenerated(forms));
  app.use('/docs', compressedFiles(swaggerFiles(), { without: ['index.html'] }));
  SwaggerModule.setup('docs', app, document, {
    jsonDocumentUrl: 'docs/openapi.json',
    yamlDocumentUrl: 'docs/openapi.yaml',
    customSiteTitle: 'Gridgate API',
    customCss: PAGE_STYLE,
    swaggerOptions: {
      persistAuthorization: false,
      displayRequestDuration: true,
      tryItOutEnabled: true,
      oauth2RedirectUrl: `${publicUrl}/docs/oauth2-redirect.html`,
      initOAuth: {
        clientId: SWAGGER_CLIENT_ID,
        usePkceWithAuthorizationCodeGrant: true,
        scopes: [...scopes],
      },
    },
  });
}

/** The folder of Swagger UI's own files, as @nestjs/swagger finds it. */
function swaggerFiles(): string {
  const itself = createRequire(import.meta.url).resolve('@nestjs/swagger');
  return dirname(createRequire(itself).resolve('swagger-ui-dist/package.json'));
}

/**
 * What is made from the document is made once and compressed once, not at each request: the YAML form alone takes
 * longer than a hundred other answers.
 */
function keepGenerated(forms: SwaggerPage['forms']): RequestHandler {
  const kept = new Map<string, Asset>();
  const keep = (path: string, contentType: string, text: string): Asset => {
    const bytes = Buffer.from(text);
    const asset = new Asset(contentType, () => Promise.resolve(bytes));
    kept.set(path, asset);
    return asset;
  };
  if (forms) {
    keep('/docs/openapi.json', 'application/json; charset=utf-8', forms.json);
    keep('/docs/openapi.yaml', 'text/yaml; charset=utf-8', forms.yaml);
  }
  return (request, response, next) => {
    const path = request.originalUrl.split('?')[0] ?? '';
    if (path === '/docs/' || path === '/docs/index.html') {
      response.redirect(308, '/docs'); // the page has links that lead from there only
      return;
    }
    if (!GENERATED.has(path) || !isRead(request)) {
      next();
      return;
    }
    const known = kept.get(path);
    if (known) {
      known.send(request, response).catch(next);
      return;
    }
    response.send = (text: string) => {
      const made = keep(path, response.get('Content-Type') ?? '', text);
      made.send(request, response).catch(next);
      return response;
    };
    next();
  };
}

/** Scripts of the page itself only; Swagger UI sets styles on its elements and has icons in data URLs. */
function pageHeaders(publicUrl: string): RequestHandler {
  const policy =
    `default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; ` +
    `font-src 'self'; connect-src 'self' ${new URL(publicUrl).origin}; form-action 'self'; ` +
    `base-uri 'none'; frame-ancestors 'none'`;
  return (_request, response, next) => {
    response.setHeader('Content-Security-Policy', policy);
    response.setHeader('Cache-Control', 'no-cache');
    next();
  };
}
