import 'reflect-metadata';
import type { INestApplication } from '@nestjs/common';
import { ModulesContainer, NestFactory } from '@nestjs/core';
import { AppModule } from '../app.module.js';
import { readConfig } from '#src/config/index.js';
import type { openApiDocument } from '#src/http/index.js';
import { createLogger } from '#src/runtime/index.js';
import { TrustedAuthorities } from '../x509/index.js';
import { createRuntime } from './runtime.js';
import { openApiOf } from './server.js';

/** The application with all its parts, connected to nothing: for looking at its routes. */
export async function createDetachedApplication(): Promise<INestApplication> {
  const config = readConfig({ GRID_LOG_LEVEL: 'silent' });
  const runtime = createRuntime(
    config,
    () => {
      throw new Error('this application has no database');
    },
    { logger: createLogger('silent') },
  );
  const authorities = await TrustedAuthorities.open({ paths: [] });
  authorities.close(); // nothing to look after
  const module = AppModule.forRoot({ ...runtime, authorities });
  return NestFactory.create(module, { logger: false, bodyParser: false, abortOnError: false });
}

/** The OpenAPI document, with the default public URL or another. */
export async function describeApi(publicUrl?: string): Promise<ReturnType<typeof openApiDocument>> {
  const app = await createDetachedApplication();
  const config = readConfig({});
  return openApiOf(app, { ...config, publicUrl: publicUrl ?? config.publicUrl });
}

/** Every controller class of the application. */
export async function controllersOfApplication(): Promise<(abstract new () => object)[]> {
  const app = await createDetachedApplication();
  const classes = [...app.get(ModulesContainer).values()].flatMap((module) =>
    [...module.controllers.values()].map(
      (wrapper) => wrapper.metatype as abstract new () => object,
    ),
  );
  return [...new Set(classes)];
}
