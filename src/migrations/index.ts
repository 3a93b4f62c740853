import { CreateRegistry1763600000001 } from './1763600000001-create-registry.js';
import { CreateSigningKeys1763600000002 } from './1763600000002-create-signing-keys.js';
import { CreateJobs1763600000003 } from './1763600000003-create-jobs.js';
import { CreateCatalogue1763600000004 } from './1763600000004-create-catalogue.js';
import { CreateLoginSessions1763600000005 } from './1763600000005-create-login-sessions.js';
import { CreateAuthorizations1763600100001 } from './1763600100001-create-authorizations.js';
import { CreateStoredTokens1763600100010 } from './1763600100010-create-stored-tokens.js';
import { CountFieldValues1763600100080 } from './1763600100080-count-field-values.js';
import { PlaceSegments1763600100081 } from './1763600100081-place-segments.js';
import { Resources1763600200101 } from './1763600200101-resources.js';
import { JobTemplates1763600200102 } from './1763600200102-job-templates.js';
import { BindCertificates1763600200300 } from './1763600200300-bind-certificates.js';
import { ShapesOfJobs1763700300000 } from './1763700300000-shapes-of-jobs.js';
import { SubjectsOfUsers1763800000001 } from './1763800000001-subjects-of-users.js';
import { Audiences1763800000002 } from './1763800000002-audiences.js';
import { OpenidConnect1763800100001 } from './1763800100001-openid-connect.js';
import { NamesOfUsers1763800100002 } from './1763800100002-names-of-users.js';
import { PlacesAfterSignOut1763800100003 } from './1763800100003-places-after-sign-out.js';
import { KeysOfApplications1763800200001 } from './1763800200001-keys-of-applications.js';
import { PushedRequests1763800200002 } from './1763800200002-pushed-requests.js';
import { EventLog1763900000001 } from './1763900000001-event-log.js';
import { OutputReads1763900100001 } from './1763900100001-output-reads.js';
import { Holds1763900100002 } from './1763900100002-holds.js';
import { CreateWebhooks1763900200001 } from './1763900200001-create-webhooks.js';
import { TokensOfJobs1763900300001 } from './1763900300001-tokens-of-jobs.js';
import { Shares1763900400001 } from './1763900400001-shares.js';
import { Arrays1763900600001 } from './1763900600001-arrays.js';
import { Dependencies1763900700001 } from './1763900700001-dependencies.js';
import { Limits1763900800001 } from './1763900800001-limits.js';
import { IdTokenKeys1763901000001 } from './1763901000001-id-token-keys.js';
import { Places1763902000001 } from './1763902000001-places.js';
import { Usage1763903000001 } from './1763903000001-usage.js';
import { EventLogCompression1763904000001 } from './1763904000001-event-log-compression.js';
import { KindsOfSites1763905000001 } from './1763905000001-kinds-of-sites.js';
import { HoldsOutlastReschedules1763910300001 } from './1763910300001-holds-outlast-reschedules.js';
import { CountsOfArrays1763910300002 } from './1763910300002-counts-of-arrays.js';
import { SilentWebhooks1763910400001 } from './1763910400001-silent-webhooks.js';
import { AuditEvents1763910495001 } from './1763910495001-audit-events.js';
import { QueueByOwner1763910500001 } from './1763910500001-queue-by-owner.js';
import { DependenciesByOwner1763910500002 } from './1763910500002-dependencies-by-owner.js';
import { DisabledUsers1763910600001 } from './1763910600001-disabled-users.js';
import { VirtualOrganisationsOfCounts1763910600002 } from './1763910600002-virtual-organisations-of-counts.js';
import { RequestProofs1763910700001 } from './1763910700001-request-proofs.js';
import { BatchWaits1763910800001 } from './1763910800001-batch-waits.js';
import { Departures1763910900001 } from './1763910900001-departures.js';

/**
 * All migrations in the order of their timestamps. They are append-only plain SQL, import no entity and run
 * forward under an advisory lock at start.
 */
export const MIGRATIONS: (new () => object)[] = [
  CreateRegistry1763600000001,
  CreateSigningKeys1763600000002,
  CreateJobs1763600000003,
  CreateCatalogue1763600000004,
  CreateLoginSessions1763600000005,
  CreateAuthorizations1763600100001,
  CreateStoredTokens1763600100010,
  CountFieldValues1763600100080,
  PlaceSegments1763600100081,
  Resources1763600200101,
  JobTemplates1763600200102,
  BindCertificates1763600200300,
  ShapesOfJobs1763700300000,
  SubjectsOfUsers1763800000001,
  Audiences1763800000002,
  OpenidConnect1763800100001,
  NamesOfUsers1763800100002,
  PlacesAfterSignOut1763800100003,
  KeysOfApplications1763800200001,
  PushedRequests1763800200002,
  EventLog1763900000001,
  OutputReads1763900100001,
  Holds1763900100002,
  CreateWebhooks1763900200001,
  TokensOfJobs1763900300001,
  Shares1763900400001,
  Arrays1763900600001,
  Dependencies1763900700001,
  Limits1763900800001,
  IdTokenKeys1763901000001,
  Places1763902000001,
  Usage1763903000001,
  EventLogCompression1763904000001,
  KindsOfSites1763905000001,
  HoldsOutlastReschedules1763910300001,
  CountsOfArrays1763910300002,
  SilentWebhooks1763910400001,
  AuditEvents1763910495001,
  QueueByOwner1763910500001,
  DependenciesByOwner1763910500002,
  DisabledUsers1763910600001,
  VirtualOrganisationsOfCounts1763910600002,
  RequestProofs1763910700001,
  BatchWaits1763910800001,
  Departures1763910900001,
];
