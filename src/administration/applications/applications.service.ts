import { Injectable } from '@nestjs/common';
import { ClientsService, type NewClient } from '#src/auth/index.js';
import { Problem } from '#src/kernel/index.js';
import type { AuditOrigin } from '#src/audit/index.js';
import type { AddApplicationRequest } from './application.request.js';
import {
  ApplicationResponse,
  type AddedApplicationResponse,
  type RemovedApplicationResponse,
} from './application.response.js';

/** Members of the body by the options of `gridgate client add`, which are what faults are named by. */
const MEMBERS: Partial<Record<string, string>> = {
  'redirect-uri': 'redirectUris',
  'post-logout-redirect-uri': 'postLogoutRedirectUris',
  'subject-dn': 'subjectDn',
  auth: 'authentication',
  scope: 'scopes',
  audience: 'audiences',
};

/** Applications as administrators see and keep them. */
@Injectable()
export class AdministeredApplications {
  constructor(private readonly clients: ClientsService) {}

  /** GET /admin/applications. */
  async list(): Promise<ApplicationResponse[]> {
    return (await this.clients.list()).map((report) => ApplicationResponse.from(report));
  }

  /** GET /admin/applications/<id>. Throws Problem 404. */
  async get(id: string): Promise<ApplicationResponse> {
    return ApplicationResponse.from(await this.clients.show(id));
  }

  /** POST /admin/applications. Throws Problem 400, 409. */
  async add(
    { scopes, audiences, ...wanted }: AddApplicationRequest,
    origin: AuditOrigin,
  ): Promise<AddedApplicationResponse> {
    const given = Object.entries(wanted).filter(([, value]) => value !== undefined);
    const input = {
      ...(Object.fromEntries(given) as unknown as NewClient),
      ...(scopes.length > 0 && { scopes }),
      ...(audiences.length > 0 && { audiences }),
    };
    const added = await this.clients.add(input, origin).catch(refuse);
    const { client_id: id, client_secret: secret } = added;
    return { id, ...(secret !== undefined && { secret }) };
  }

  /** DELETE /admin/applications/<id>. Throws Problem 404. */
  async remove(id: string, origin: AuditOrigin): Promise<RemovedApplicationResponse> {
    await this.clients.remove(id, origin);
    return { id, deleted: true };
  }
}

function refuse(error: unknown): never {
  if (!(error instanceof Problem) || error.code !== 'request.invalid') throw error;
  const { violations = [] } = error;
  throw Problem.invalid(
    violations.map(({ field, problem }) => ({ field: MEMBERS[field] ?? field, problem })),
  );
}
