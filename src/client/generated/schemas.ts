// Generated from docs/openapi.json by scripts/write-client.mjs; do not edit.

/** Body of `POST /admin/applications`. */
export interface AddApplicationRequest {
  /** Shown to users */
  name: string;
  /** The client_id; made up when it is left out */
  id?: string;
  redirectUris?: string[];
  /** Where its users may go once they have signed out */
  postLogoutRedirectUris?: string[];
  /** It can keep a secret */
  confidential?: boolean;
  /** Services that it may have tokens for; `*` for all */
  audiences?: string[];
  /** What is demanded of it */
  profile?: 'interface' | 'oauth2.1' | 'fapi2';
  /** How it proves itself in place of a secret */
  authentication?: 'private_key_jwt' | 'tls_client_auth' | 'self_signed_tls_client_auth';
  /** Its public keys or certificates (RFC 7517) */
  jwks?: Record<string, unknown>;
  /** DN of its certificate, for `tls_client_auth` */
  subjectDn?: string;
  /** Algorithm of its ID tokens in place of that of the service */
  idTokenAlg?: 'RS256';
  /** Scopes of tokens for itself */
  scopes?: string[];
  /** Group whose rights bound the tokens for itself */
  group?: string;
}

/** Body of `POST /admin/groups`. */
export interface AddGroupRequest {
  /** 1 to 128 characters without blank, slash and comma */
  name: string;
  /** Virtual organisation: a name of a directory */
  vo?: string;
  /** What members may do */
  properties?: (
    | 'NormalUser'
    | 'JobSharing'
    | 'JobMonitor'
    | 'JobAdministrator'
    | 'ServiceAdministrator'
    | 'FileCatalogManagement'
  )[];
  /** Names of users */
  members?: string[];
  /** Scopes at an identity provider that stand for the group */
  idpScopes?: string[];
  /** Role at an identity provider that stands for the group */
  idpRole?: string;
  /** Of the jobs: `running`, `waiting`, `ownerRunning` and `ownerWaiting`, whole numbers; none when it is empty */
  limits?: Record<string, unknown>;
}

/** Body of `POST /admin/sites`. */
export interface AddSiteRequest {
  /** 1 to 128 characters without blank, slash and comma */
  name: string;
  /** Setups whose jobs it runs; left out: all */
  setups?: string[];
  /** Jobs at once */
  slots?: number;
  /** Processors for all of its jobs */
  processors?: number;
  /** MB (2^20 bytes) for all of its jobs */
  ramMB?: number;
  /** GPUs for all of its jobs */
  gpus?: number;
  /** What jobs may ask for by name */
  tags?: string[];
  /** Seconds that a job may run */
  maxWallTime?: number;
  /** Of the jobs: `running` and `waiting`, whole numbers, and `tags` of such; none when it is empty */
  limits?: Record<string, unknown>;
  /** Settings of the backend, such as `partition` and `account` of Slurm */
  options?: Record<string, unknown>;
  /** What runs its jobs */
  backend: 'local-process' | 'slurm';
}

/** Body of `POST /admin/users`. */
export interface AddUserRequest {
  /** Owner of jobs and files; 1 to 128 characters without blank, slash and comma */
  name: string;
  /** What tokens call the user: made up when it is left out, and never given to another */
  sub?: string;
  /** For people */
  fullName?: string;
  /** E-mail address */
  email?: string;
  /** Certificates that the user signs in with; each belongs to one user only */
  certificates?: CertificateRequest[];
  /** Accounts at identity providers; each belongs to one user only */
  subjects?: SubjectRequest[];
  /** Of the jobs: `running` and `waiting`, whole numbers; none when it is empty */
  limits?: Record<string, unknown>;
  /** Groups that the user becomes a member of */
  groups?: string[];
}

/** Answer of `POST /admin/applications`. */
export interface AddedApplicationResponse {
  /** The client_id */
  id: string;
  /** With which it proves itself */
  secret?: string;
}

/** Answer of `GET /admin/access`. */
export interface AdministrationAccessResponse {
  /** The group of the token has ServiceAdministrator: a token for it may have the scope `admin`, which must be asked for by name */
  possible: boolean;
  /** The token has the scope `admin` and may be used for it */
  granted: boolean;
}

/** Answer of `GET /admin/applications`. */
export interface ApplicationListResponse {
  applications: ApplicationResponse[];
}

/** Answer of `GET /admin/applications/{application}`. */
export interface ApplicationResponse {
  /** The client_id */
  id: string;
  name: string;
  redirectUris: string[];
  /** Where its users may go once they have signed out */
  postLogoutRedirectUris: string[];
  /** It can keep a secret */
  confidential: boolean;
  /** Services that it may have tokens for; `*` for all */
  audiences: string[];
  /** What is demanded of it */
  profile: 'interface' | 'oauth2.1' | 'fapi2';
  /** How it proves itself */
  authentication: string;
  /** Algorithm of its ID tokens in place of that of the service */
  idTokenAlg?: string;
  /** Scopes of tokens for itself */
  scopes?: string[];
  /** Group whose rights bound these tokens */
  group?: string;
  /** Who keeps it: a registry file that was loaded, or administrators one by one */
  origin: 'file' | 'command';
}

/** Answer of `DELETE /jobs/arrays/{arrayId}`. */
export interface ArrayKillResponse {
  /** Id of the array */
  arrayId: number;
  /** Members that were killed; with `purge` those that were deleted */
  killed: number;
}

/** Answer of `GET /jobs/arrays/{arrayId}`. */
export interface ArrayResponse {
  /** Id of the array */
  arrayId: number;
  /** JobName of the first manifest as it was sent, when it had one */
  name?: string;
  /** Virtual organisation of the owner's group, when it has one. */
  vo?: string;
  submission: string;
  /** Members it was submitted with */
  total: number;
  /** State → number of members; states without any are left out */
  states: Record<string, number>;
  owner: string;
  ownerGroup: string;
  setup: string;
}

/** Answer of `POST /jobs/arrays/{arrayId}/retry`. */
export interface ArrayRetryResponse {
  /** Id of the array */
  arrayId: number;
  /** Failed members that were sent back to the queue */
  retried: number;
  /** Failed members that were rescheduled as often as they may be */
  refused: number;
  /** Failed members that stay failed since no more jobs may wait */
  left: number;
}

/** The service that a token is for, or a list of several (RFC 7519 §4.1.3) */
export type Audience = string | string[];

/** Part of {@link AuditSearchResponse}. */
export interface AuditEventResponse {
  id: string;
  time: string;
  /** Host and port of the server, or the host where a command ran */
  instance: string;
  event: string;
  outcome: 'done' | 'refused';
  user?: string;
  group?: string;
  /** The application */
  client?: string;
  /** The other fields of the line: those of the event, `address`, `requestId`, `setup` */
  details: Record<string, unknown>;
}

/** Answer of `GET /admin/audit`. */
export interface AuditSearchResponse {
  /** For `before`, when there are older ones */
  next?: string;
  events: AuditEventResponse[];
}

/** Answer of `DELETE /jobs`. */
export interface BulkKillResponse {
  results: Record<string, BulkKillResult>;
}

/** Part of {@link BulkKillResponse}. */
export interface BulkKillResult {
  status: 200 | 403 | 404 | 409;
  detail?: string;
}

/** At most `maxValues` values of a field, and how many there are */
export interface CappedValues {
  values: CompatibleValue[];
  total: number;
  min: MetadataValue;
  max: MetadataValue;
}

/** Part of {@link CatalogueEventResponse}. */
export interface CatalogueChangeResponse {
  /** Path in the catalogue */
  path: string;
  /** `changed` of a directory: owner, group or mode, so that more or less below it may be seen. `removed`: with everything below it, and also when it may not be seen any more */
  change: 'created' | 'changed' | 'removed' | 'moved';
  /** Of a directory that was moved: where it was, if that may be seen */
  from?: string;
}

/** Part of {@link CatalogueEventsResponse}. */
export interface CatalogueEventResponse {
  /** Position behind the event */
  id: string;
  /** `metadata`: that of the directory or file has changed; of `/`: a field has been declared or deleted, or values of the root have changed */
  event: 'directory' | 'file' | 'metadata';
  data: CatalogueChangeResponse;
}

/** Answer of `GET /filecatalogue/events`. */
export interface CatalogueEventsResponse {
  /** `after` of the next request */
  position: string;
  events: CatalogueEventResponse[];
}

/** Part of {@link AddUserRequest}, {@link ChangeUserRequest}. */
export interface CertificateRequest {
  /** DN in any spelling */
  subject: string;
  /** DN of the trusted CA that must have signed it; left out: any trusted one */
  issuer?: string;
}

/** Part of {@link UserResponse}. */
export interface CertificateResponse {
  /** Canonical DN */
  subject: string;
  /** DN of the CA that must have signed it */
  issuer?: string;
}

/** Body of `PATCH /admin/groups/{group}`. */
export interface ChangeGroupRequest {
  /** Virtual organisation: a name of a directory */
  vo?: string | null;
  /** What members may do */
  properties?: (
    | 'NormalUser'
    | 'JobSharing'
    | 'JobMonitor'
    | 'JobAdministrator'
    | 'ServiceAdministrator'
    | 'FileCatalogManagement'
  )[];
  /** Names of users */
  members?: string[];
  /** Scopes at an identity provider that stand for the group */
  idpScopes?: string[];
  /** Role at an identity provider that stands for the group */
  idpRole?: string | null;
  /** Of the jobs: `running`, `waiting`, `ownerRunning` and `ownerWaiting`, whole numbers; none when it is empty */
  limits?: Record<string, unknown>;
}

/** Body of `PATCH /admin/sites/{site}`. */
export interface ChangeSiteRequest {
  /** What runs its jobs */
  backend?: 'local-process' | 'slurm';
  /** Setups whose jobs it runs; left out: all */
  setups?: string[] | null;
  /** Jobs at once */
  slots?: number | null;
  /** Processors for all of its jobs */
  processors?: number | null;
  /** MB (2^20 bytes) for all of its jobs */
  ramMB?: number | null;
  /** GPUs for all of its jobs */
  gpus?: number | null;
  /** What jobs may ask for by name */
  tags?: string[];
  /** Seconds that a job may run */
  maxWallTime?: number | null;
  /** Of the jobs: `running` and `waiting`, whole numbers, and `tags` of such; none when it is empty */
  limits?: Record<string, unknown>;
  /** Settings of the backend, such as `partition` and `account` of Slurm */
  options?: Record<string, unknown>;
}

/** Body of `PATCH /admin/users/{user}`. */
export interface ChangeUserRequest {
  /** What tokens call the user: made up when it is left out, and never given to another */
  sub?: string;
  /** For people */
  fullName?: string | null;
  /** E-mail address */
  email?: string | null;
  /** Certificates that the user signs in with; each belongs to one user only */
  certificates?: CertificateRequest[];
  /** Accounts at identity providers; each belongs to one user only */
  subjects?: SubjectRequest[];
  /** Of the jobs: `running` and `waiting`, whole numbers; none when it is empty */
  limits?: Record<string, unknown>;
}

/** Body of `PATCH /webhooks/{id}`. */
export interface ChangeWebhookRequest {
  /** Where to: an https URL of at most 2048 characters without user, fragment and white space, whose name leads to public addresses only */
  url?: string;
  /** Of `jobs`: the filters of `GET /jobs` and `allOwners`, each value a text, number, boolean or a list of them. Of `filecatalogue`: `prefix`, the path below which changes are told */
  filter?: Record<string, unknown>;
  /** For people */
  description?: string;
  /** `true` lets a disabled one go on where it stopped, `false` stops it */
  enabled?: boolean;
}

/** Part of {@link ReadMetadataResponse}. */
export interface CompatibleFieldResponse {
  /** Type of the field */
  type: 'int' | 'float' | 'string' | 'date';
  /** Distinct values in order; with `counts=true` objects `{"value", "directories"}` */
  values: CompatibleValue[];
  /** Number of values, with `maxValues` */
  total?: number;
  min?: MetadataValue;
  max?: MetadataValue;
}

/** A value, or with `counts=true` the value and how many directories match with it */
export type CompatibleValue = MetadataValue | CountedValueResponse;

/** Body of `POST /oauth2/auth`. */
export interface ConsentForm {
  /** From the page; a form without it is refused */
  csrf: string;
  decision: 'allow' | 'deny' | 'another';
  group?: string;
  setup?: string;
}

/** Part of {@link CompatibleValue}. */
export interface CountedValueResponse {
  value: MetadataValue;
  /** Matching directories */
  directories: number;
}

/** Body of `POST /filecatalogue/metadata`. */
export interface DeclareFieldRequest {
  /** Name of the field */
  name: string;
  /** Type of its values */
  type: 'int' | 'float' | 'string' | 'date';
}

/** Answer of `DELETE /filecatalogue/directory/{directory}`, `DELETE /filecatalogue/file/{file}`. */
export interface DeletedResponse {
  /** Path in the catalogue */
  path: string;
  /** Always true */
  deleted: boolean;
}

/** Answer of `GET /webhooks/{id}/deliveries`. */
export interface DeliveryListResponse {
  deliveries: DeliveryResponse[];
}

/** Answer of `POST /webhooks/{id}/deliveries/{delivery}/replay`. */
export interface DeliveryResponse {
  /** The header `webhook-id`, the same at every attempt */
  id: string;
  type: string;
  /** Job or path, whose messages are in order */
  subject: string;
  /** `withheld`: by then the owner might not see the event any more */
  state: 'waiting' | 'delivered' | 'failed' | 'withheld';
  attempts: number;
  createdAt: string;
  /** While it waits */
  nextAttempt?: string;
  finishedAt?: string;
  /** Of the last answer */
  status?: number;
  /** What was wrong with the last attempt */
  error?: string;
  /** What is sent */
  payload: Record<string, unknown>;
}

/** Body of `POST /oauth2/device`. */
export interface DeviceDecisionForm {
  /** From the page; a form without it is refused */
  csrf: string;
  user_code: string;
  group?: string;
  setup?: string;
  /** Absent: look the code up */
  decision?: 'allow' | 'deny' | 'another';
}

/** Body of `POST /oauth2/device_authorization`. */
export interface DeviceForm {
  client_id: string;
  /** Secret of a confidential application */
  client_secret?: string;
  /** Of `private_key_jwt`: `urn:ietf:params:oauth:client-assertion-type:jwt-bearer` (RFC 7523) */
  client_assertion_type?: string;
  /** Of `private_key_jwt`: the signed JWT */
  client_assertion?: string;
  /** Words separated by blanks */
  scope?: string;
  /** Service that tokens are for; may be repeated */
  audience?: string[];
  /** As audience (RFC 8707) */
  resource?: string[];
  /** Group that the device would like; the user decides */
  group?: string;
  /** Setup that the device would like; the user decides */
  setup?: string;
}

/** Answer of `POST /oauth2/device_authorization`. */
export interface DeviceResponse {
  /** For the device; it asks the token endpoint with it */
  device_code: string;
  /** For the user, who types it on the page */
  user_code: string;
  verification_uri: string;
  verification_uri_complete: string;
  /** Seconds */
  expires_in: number;
  /** Seconds between two questions of the device */
  interval: number;
}

/** Part of {@link SubDirectory}. */
export interface DirectoryAttributesResponse {
  /** Number of the directory */
  DirID: number;
  /** Number of the owner */
  UID: number;
  /** Name of the owner */
  Owner: string;
  /** Number of the group */
  GID: number;
  /** Name of the group */
  OwnerGroup: string;
  /** Status */
  Status: string;
  /** Mode bits as decimal number */
  Mode: number;
  /** When it was made */
  CreationDate: string;
  /** When it was last changed */
  ModificationDate: string;
}

/** Answer of `GET /filecatalogue/directory`, `GET /filecatalogue/directory/{directory}`. */
export interface DirectoryContentsResponse {
  /** Subdirectories by name: `true`, or with `verbose` their attributes */
  SubDirs: Record<string, SubDirectory>;
  /** Files by name: `MetaData` with the attributes and with `verbose` also `Replicas` */
  Files: Record<string, FileEntryResponse>;
}

/** The values of a field; with `maxValues` an object */
export type DirectoryField = CompatibleValue[] | CappedValues;

/** Body of `POST /admin/sites/{site}/drain`. */
export interface DrainSiteRequest {
  /** For users, whose jobs wait */
  reason: string;
}

/** Part of {@link SubmitJobsResponse}. */
export interface DryRunResponse {
  /** How many jobs would be made */
  jobs: number;
  /** The manifests as they would be stored, one for each job */
  manifests: ManifestRequest[];
  /** What looks like a mistake but would be accepted, the first 100 */
  warnings: SubmitWarning[];
  valid: boolean;
}

/** Part of {@link JobUsageResponse}. */
export interface EnergyAssumptions {
  /** Watts of a GB of memory held */
  memoryWattsPerGB: number;
  /** Power usage effectiveness */
  pue: number;
  /** Watts of a processor at work */
  processorWatts: number;
}

/** Answer of `POST /filecatalogue/metadata`. */
export interface FieldResponse {
  /** Name of the field */
  name: string;
  /** Type of its values */
  type: string;
}

/** Answer of `GET /filecatalogue/file/{file}/attributes`. */
export interface FileAttributesResponse {
  /** Number of the file */
  FileID: number;
  /** Bytes */
  Size: number;
  /** GUID; empty when none was given */
  GUID: string;
  /** Checksum; empty when none was given */
  Checksum: string;
  /** Algorithm of the checksum */
  ChecksumType: string;
  /** Kind of the entry */
  Type: string;
  /** Number of the owner */
  UID: number;
  /** Name of the owner */
  Owner: string;
  /** Number of the group */
  GID: number;
  /** Name of the group */
  OwnerGroup: string;
  /** When it was registered */
  CreationDate: string;
  /** When it was last changed */
  ModificationDate: string;
  /** Mode bits as decimal number */
  Mode: number;
  /** Status */
  Status: string;
}

/** Part of {@link DirectoryContentsResponse}. */
export interface FileEntryResponse {
  MetaData: FileAttributesResponse;
  /** With `verbose`: replicas by storage element */
  Replicas?: Record<string, ReplicaResponse>;
}

/** Answer of `GET /filecatalogue/directory/{directory}/search`. */
export interface FoundTreeResponse {
  /** Files in the directory and below; absent on directories that only lead to a match */
  f?: number;
  /** Bytes of these files */
  s?: number;
  /** Directories inside, by name */
  d?: Record<string, FoundTreeResponse>;
}

/** Answer of `GET /admin/groups`. */
export interface GroupListResponse {
  groups: GroupResponse[];
}

/** Answer of `POST /admin/groups`, `GET /admin/groups/{group}`. */
export interface GroupResponse {
  name: string;
  /** Virtual organisation */
  vo?: string;
  properties: string[];
  /** Names of users */
  members: string[];
  /** Scopes at an identity provider that stand for it */
  idpScopes?: string[];
  /** Role at an identity provider that stands for it */
  idpRole?: string;
  /** Of the jobs: `running`, `waiting`, `ownerRunning` and `ownerWaiting` */
  limits?: Record<string, unknown>;
}

/** Answer of `GET /oauth2/groups`. */
export interface GroupsResponse {
  groups: string[];
}

/** Body of `POST /oauth2/revoke`, `POST /oauth2/introspect`. */
export interface InspectForm {
  client_id?: string;
  /** Secret of a confidential application */
  client_secret?: string;
  /** Of `private_key_jwt`: `urn:ietf:params:oauth:client-assertion-type:jwt-bearer` (RFC 7523) */
  client_assertion_type?: string;
  /** Of `private_key_jwt`: the signed JWT */
  client_assertion?: string;
  /** An access token or a refresh token */
  token: string;
  /** `access_token` or `refresh_token`; only a hint */
  token_type_hint?: string;
}

/** Answer of `POST /oauth2/introspect`. */
export interface IntrospectionResponse {
  /** False: dead, unknown or not yours; then nothing else is said */
  active: boolean;
  scope?: string;
  client_id?: string;
  /** User name */
  username?: string;
  /** `Bearer` or `DPoP` for access tokens */
  token_type?: string;
  /** Seconds since 1970 */
  exp?: number;
  /** Seconds since 1970 */
  iat?: number;
  /** Good from then on, seconds since 1970 */
  nbf?: number;
  /** The user, opaque and for life */
  sub?: string;
  aud?: Audience;
  iss?: string;
  jti?: string;
  group?: string;
  setup?: string;
  'wlcg.groups'?: string[];
  /** The application that acts with it (RFC 8693 §4.1) */
  act?: Record<string, unknown>;
  /** To what the token is bound: `jkt` (RFC 9449) or `x5t#S256` (RFC 8705) */
  cnf?: Record<string, string>;
}

/** Part of {@link JobExplainResponse}. */
export interface JobBatchQueueResponse {
  /** When it starts by what the batch system knows now; absent when it does not tell, and it may come otherwise */
  expectedStart?: string;
  /** When the batch system said so: a minute or two ago at most, except while it is away */
  asOf: string;
  /** Why it has not begun, in the words of the batch system */
  reason: string;
  /** What that means, as a sentence without a full stop; absent for a reason that the service does not know */
  meaning?: string;
}

/** Part of {@link ManifestRequest}. */
export interface JobConditionRequest {
  /** A job */
  jid?: number;
  /** The `Label` of a job of the same request */
  label?: string;
  /** How it has to end: well, badly, or in any way; done by default */
  on?: 'done' | 'failed' | 'end';
}

/** Part of {@link JobEventsResponse}. */
export interface JobEventResponse {
  /** Position behind the event */
  id: string;
  /** `left`: the filters let the job through before this move, and do not any more */
  event: 'job' | 'left';
  data: JobMoveResponse;
}

/** Answer of `GET /jobs/events`. */
export interface JobEventsResponse {
  /** `after` of the next request */
  position: string;
  events: JobEventResponse[];
}

/** Answer of `GET /jobs/{jid}/explain`. */
export interface JobExplainResponse {
  /** Id of the job */
  jid: number;
  status: string;
  /** What it waits for, or what has become of it */
  waitsFor: string;
  /** Its place in the queue, from 1: among the jobs of its owner where places are shared. Only of a job that waits for its turn, and up to 10000 */
  place?: number;
  /** What decides when the turn of its owner comes; only of a job that waits for its turn, and where places are shared */
  share?: JobShareResponse;
  /** Only of a job that waits in the queue of a batch system, once that was asked about it */
  batchQueue?: JobBatchQueueResponse;
  /** Site → reason. */
  sites: Record<string, string>;
}

/** Part of {@link JobResponse}. */
export interface JobFlagsResponse {
  /** The input was accepted. */
  verified: boolean;
  /** The owner has fetched the output sandbox. */
  retrieved: boolean;
  /** Used CPU and wall time are recorded. */
  accounted: boolean;
  killed: boolean;
  deleted: boolean;
  inputSandboxReady: boolean;
  outputSandboxReady: boolean;
}

/** Part of {@link JobSharesResponse}. */
export interface JobGroupShare {
  /** Part of what was used lately, older use counting less */
  used: number;
  /** Part that is due beside the others that have used something lately or wait */
  due: number;
  group: string;
  /** By name, those whose jobs you may see */
  owners: JobOwnerShare[];
  /** Beside the weights of other groups (registry) */
  weight: number;
  /** Processor-seconds, older ones counting less */
  seconds: number;
  /** Processors of the jobs that sites have been given */
  held: number;
  /** Has jobs that wait for their turn */
  waiting: boolean;
}

/** Part of {@link JobHistoryResponse}. */
export interface JobHistoryEntry {
  time: string;
  status: string;
  minorStatus: string;
  appStatus: string;
  /** Who moved it: `REST`, `Dispatcher`, an executor, `Reaper`, or a person. */
  source: string;
}

/** Answer of `GET /jobs/{jid}/history`. */
export interface JobHistoryResponse {
  history: JobHistoryEntry[];
}

/** Answer of `DELETE /jobs/{jid}`, `POST /jobs/{jid}/reschedule`, `POST /jobs/{jid}/hold`, `POST /jobs/{jid}/release`. */
export interface JobIdResponse {
  /** Id of the job */
  jid: number;
}

/** Answer of `GET /jobs`. */
export interface JobListResponse {
  /** Number of all matching jobs, not of those on the page */
  entries: number;
  jobs: JobResponse[];
}

/** Part of {@link JobEventResponse}. */
export interface JobMoveResponse {
  jid: number;
  status:
    | 'Submitting'
    | 'Received'
    | 'Checking'
    | 'Scouting'
    | 'Staging'
    | 'Waiting'
    | 'Matched'
    | 'Rescheduled'
    | 'Running'
    | 'Stalled'
    | 'Completing'
    | 'Completed'
    | 'Done'
    | 'Failed'
    | 'Killed'
    | 'Deleted';
  minorStatus: string;
  appStatus: string;
  site: string;
  lastUpdate: string;
}

/** Part of {@link JobGroupShare}. */
export interface JobOwnerShare {
  /** Part of what was used lately, older use counting less */
  used: number;
  /** Part that is due beside the others that have used something lately or wait */
  due: number;
  owner: string;
  /** Processor-seconds, older ones counting less */
  seconds: number;
  /** Processors of the jobs that sites have been given */
  held: number;
  /** Has jobs that wait for their turn */
  waiting: boolean;
}

/** What was measured and noted, by name */
export type JobParameters = Record<string, string | number | boolean | null | bigint>;

/** Answer of `GET /jobs/{jid}/peek`. */
export interface JobPeekResponse {
  stdout: string;
  stderr: string;
}

/** Answer of `GET /jobs/{jid}`. */
export interface JobResponse {
  flags: JobFlagsResponse;
  times: JobTimesResponse;
  /** Id of the job */
  jid: number;
  status:
    | 'Submitting'
    | 'Received'
    | 'Checking'
    | 'Scouting'
    | 'Staging'
    | 'Waiting'
    | 'Matched'
    | 'Rescheduled'
    | 'Running'
    | 'Stalled'
    | 'Completing'
    | 'Completed'
    | 'Done'
    | 'Failed'
    | 'Killed'
    | 'Deleted';
  minorStatus: string;
  appStatus: string;
  name: string;
  jobGroup: string;
  jobType: string;
  /** Where it runs; before that the wanted site, `Multiple` or `ANY`. */
  site: string;
  owner: string;
  ownerDN: string;
  ownerGroup: string;
  /** Virtual organisation of the owner's group, when it has one. */
  vo?: string;
  setup: string;
  priority: number;
  /** Seconds of CPU asked for */
  cpuTime: number;
  /** How often it was rescheduled */
  reschedules: number;
  /** Array that it is a member of, when it is of one. */
  arrayId?: number;
}

/** Part of {@link JobExplainResponse}. */
export interface JobShareResponse {
  /** The group of the job */
  group: string;
  /** Its weight beside other groups */
  weight: number;
  /** What the group has had of all that was used lately */
  used: number;
  /** What it is due by its weight, beside the other groups that have used something lately or wait */
  due: number;
  /** What the owner has had of what the group has used */
  ownerUsed: number;
  /** Owners who have waiting jobs and come before this one, since they or their groups have had less */
  ownersBefore: number;
}

/** Answer of `GET /jobs/shares`. */
export interface JobSharesResponse {
  /** By name, those whose jobs you may see, and your own */
  groups: JobGroupShare[];
  /** False where places are given by priority and age alone (GRID_SHARES) */
  shared: boolean;
  /** Seconds after which use counts half */
  halfLife: number;
}

/** Values joined by `|` → number of jobs */
export type JobSummary = Record<string, number>;

/** Answer of `GET /jobs/timeline`. */
export interface JobTimelineResponse {
  /** The first step */
  from: string;
  /** The last step */
  to: string;
  /** Seconds from one step to the next */
  step: number;
  series: JobTimelineSeries[];
}

/** Part of {@link JobTimelineResponse}. */
export interface JobTimelineSeries {
  status:
    | 'Submitting'
    | 'Received'
    | 'Checking'
    | 'Scouting'
    | 'Staging'
    | 'Waiting'
    | 'Matched'
    | 'Rescheduled'
    | 'Running'
    | 'Stalled'
    | 'Completing'
    | 'Completed'
    | 'Done'
    | 'Failed'
    | 'Killed'
    | 'Deleted';
  /** Present value of the attribute that the counts are divided by; only with `group` */
  group?: string;
  /** A number of jobs for each step */
  counts: number[];
}

/** Part of {@link JobResponse}. */
export interface JobTimesResponse {
  submission: string;
  lastUpdate: string;
  /** Last sign of life: the newer of heart beat and last update. */
  lastSOL: string;
  heartBeat?: string;
  startExecution?: string;
  endExecution?: string;
  reschedule?: string;
}

/** Part of {@link ManifestRequest}. */
export interface JobTokenRequest {
  /** Words separated by blanks */
  scope: string;
  /** Services that it is for; those of the token of the request by default */
  audience?: string[];
}

/** Part of {@link JobUsageResponse}. */
export interface JobUsage {
  /** Hours that they ran */
  wallHours: number;
  /** The same, times the processors that each was given */
  processorHours: number;
  /** Hours of processors at work, as far as measured */
  cpuHours: number;
  /** Per cent of the processor time given that was used, of runs that were measured */
  cpuEfficiency: number | null;
  /** Per cent of the memory given that was used at most, weighed by time, of runs that were measured */
  memoryEfficiency: number | null;
  /** kWh, estimated: (processors at work and memory held, each times its watts) × PUE */
  energy: number;
  /** Runs that were started and have ended, whatever became of their jobs */
  runs: number;
  /** Those whose jobs are Done */
  done: number;
}

/** Answer of `GET /jobs/usage`. */
export interface JobUsageResponse {
  /** First day */
  from: string;
  /** Last day, which belongs to it */
  to: string;
  rows: JobUsageRow[];
  /** Why the energy is as it is */
  energy: EnergyAssumptions;
  /** Everything that follows together */
  total: JobUsage;
}

/** Part of {@link JobUsageResponse}. */
export interface JobUsageRow {
  /** Hours that they ran */
  wallHours: number;
  /** The same, times the processors that each was given */
  processorHours: number;
  /** Hours of processors at work, as far as measured */
  cpuHours: number;
  /** Per cent of the processor time given that was used, of runs that were measured */
  cpuEfficiency: number | null;
  /** Per cent of the memory given that was used at most, weighed by time, of runs that were measured */
  memoryEfficiency: number | null;
  /** kWh, estimated: (processors at work and memory held, each times its watts) × PUE */
  energy: number;
  month?: string;
  day?: string;
  /** Virtual organisation, '' for none */
  vo?: string;
  group?: string;
  owner?: string;
  site?: string;
  /** Runs that were started and have ended, whatever became of their jobs */
  runs: number;
  /** Those whose jobs are Done */
  done: number;
}

/** Part of {@link KeySetResponse}. */
export interface KeyResponse {
  kty: string;
  /** Names the key in the header of a token */
  kid: string;
  alg: string;
  use: string;
}

/** Answer of `GET /.well-known/jwks.json`. */
export interface KeySetResponse {
  /** Public keys; `kid`, `alg` and `use` are always present */
  keys: KeyResponse[];
}

/** Answer of `GET /health/live`. */
export interface LiveResponse {
  status: string;
}

/** Body of `POST /oauth2/login`, `POST /oauth2/login/{provider}`. */
export interface LoginForm {
  /** From the page; a form without it is refused */
  csrf: string;
  /** Own path to come back to */
  return: string;
  /** The provider asks which account */
  prompt?: 'select_account';
}

/** Body of `POST /oauth2/logout`. */
export interface LogoutForm {
  /** An ID token of the application, expired or not: its session is the one to end */
  id_token_hint?: string;
  /** The application, without id_token_hint */
  client_id?: string;
  /** Where to go on, as registered for the application */
  post_logout_redirect_uri?: string;
  /** Given back to the application */
  state?: string;
  /** From a page of this service: the user has confirmed */
  csrf?: string;
}

/** Body of `POST /filecatalogue/lookup`. */
export interface LookupRequest {
  /** Paths of files; answered in this order, one that stands twice twice */
  paths: string[];
}

/** Answer of `POST /filecatalogue/directory/{directory}`, `PUT /filecatalogue/file/{file}`. */
export interface MadeResponse {
  /** Path in the catalogue */
  path: string;
  /** false when it was there already */
  created: boolean;
}

/** Answer of `POST /webhooks`. */
export interface MadeWebhookResponse {
  id: string;
  /** With which receivers check signatures (Standard Webhooks 1.0) */
  secret: string;
}

/** Body of `POST /filecatalogue/directory/{directory}`. */
export interface MakeDirectoryRequest {
  /** Mode bits as decimal number */
  Mode?: number;
}

/** Body of `POST /webhooks`. */
export interface MakeWebhookRequest {
  /** Where to: an https URL of at most 2048 characters without user, fragment and white space, whose name leads to public addresses only */
  url: string;
  /** Of `jobs`: the filters of `GET /jobs` and `allOwners`, each value a text, number, boolean or a list of them. Of `filecatalogue`: `prefix`, the path below which changes are told */
  filter?: Record<string, unknown>;
  /** For people */
  description?: string;
  /** Whose changes are told */
  source: 'jobs' | 'filecatalogue';
}

/** Body of `POST /jobs`. */
export interface ManifestFormRequest {
  /** A manifest as JSON text; may be repeated */
  manifest: string;
}

/** Answer of `GET /jobs/{jid}/manifest`. */
export interface ManifestRequest {
  /** An uploaded file, an absolute path, or a name on the PATH of the site. */
  Executable: string;
  /** Split like a shell splits words, without a shell; a list of texts is taken as it is. */
  Arguments?: string;
  /** File that takes what the program prints. */
  StdOutput?: string;
  /** File that takes what the program prints as errors. */
  StdError?: string;
  /** Names of uploaded files; uploaded files that are not listed are added. Scripts (`#!`) and programs among them can be executed. */
  InputSandbox?: string[];
  /** Files, directories and patterns that are brought back, `.` for everything; default: both outputs. What is made and not named here is told in the parameter `OutputNotRequested`. */
  OutputSandbox?: string[];
  /** Catalogue paths under the virtual organisation, with or without `LFN:`. Where they lie stands in the file that `GRIDGATE_INPUT_DATA` names in the job. */
  InputData?: string[];
  /** Sites on which it may run; none: any. */
  Sites?: string[];
  /** Sites on which it must not run. */
  BannedSites?: string[];
  /** What the site must have; sites declare their tags in the registry */
  Tags?: string[];
  /** Seconds of CPU */
  CPUTime?: number;
  /** The queue is ordered by priority, then age */
  Priority?: number;
  /** What to call it */
  JobName?: string;
  /** Jobs that belong together */
  JobGroup?: string;
  /** Kind of job */
  JobType?: 'User' | 'Test' | 'Hospital';
  /** Processors that the job gets; default 1 */
  NumberOfProcessors?: number;
  /** Processors that the job gets where `NumberOfProcessors` does not say it */
  MinNumberOfProcessors?: number;
  /** Not less than `MinNumberOfProcessors` */
  MaxNumberOfProcessors?: number;
  /** MB of memory that must be free where it starts */
  MinRAM?: number;
  /** MB of memory; a job that takes more is ended */
  MaxRAM?: number;
  /** Seconds; a job that runs longer is ended */
  WallTime?: number;
  /** GPUs that the job gets; default 0 */
  GPUs?: number;
  /** What the token of the job may do, as far as the submitter may; it stands in the file `BEARER_TOKEN_FILE` (docs/tokens.md) */
  Token?: JobTokenRequest;
  /** Jobs that must have ended before it starts: `jid`, or `label` of one of the same request; `on` is `done` (default), `failed` (or killed) or `end`. */
  After?: JobConditionRequest[];
  /** Names the job for `After` of others of the same request; not of a parametric job. */
  Label?: string;
}

/** Body of `POST /jobs`. */
export interface ManifestUploadRequest {
  /** A manifest as JSON text, or a file that holds one; may be repeated */
  manifest: string;
  /** Input files */
  file?: Blob[];
}

/** Part of {@link SubmitJobsRequest}. */
export interface ManifestsRequest {
  manifests: ManifestRequest[];
  /** Make the jobs an array */
  array?: boolean;
}

/** Answer of `GET /.well-known/oauth-authorization-server`, `GET /.well-known/openid-configuration`. */
export interface MetadataResponse {
  issuer: string;
  authorization_endpoint: string;
  userinfo_endpoint: string;
  token_endpoint: string;
  end_session_endpoint: string;
  jwks_uri: string;
  revocation_endpoint: string;
  introspection_endpoint: string;
  device_authorization_endpoint: string;
  subject_types_supported: string[];
  id_token_signing_alg_values_supported: string[];
  claims_supported: string[];
  acr_values_supported: string[];
  claims_parameter_supported: boolean;
  request_parameter_supported: boolean;
  request_uri_parameter_supported: boolean;
  prompt_values_supported: string[];
  scopes_supported: string[];
  response_types_supported: string[];
  response_modes_supported: string[];
  grant_types_supported: string[];
  code_challenge_methods_supported: string[];
  token_endpoint_auth_methods_supported: string[];
  token_endpoint_auth_signing_alg_values_supported: string[];
  revocation_endpoint_auth_methods_supported: string[];
  revocation_endpoint_auth_signing_alg_values_supported: string[];
  introspection_endpoint_auth_methods_supported: string[];
  introspection_endpoint_auth_signing_alg_values_supported: string[];
  /** RFC 9126 */
  pushed_authorization_request_endpoint: string;
  /** True of applications with the profile `fapi2` only */
  require_pushed_authorization_requests: boolean;
  /** RFC 9449 */
  dpop_signing_alg_values_supported: string[];
  /** RFC 8705 */
  tls_client_certificate_bound_access_tokens: boolean;
  /** RFC 9207 */
  authorization_response_iss_parameter_supported: boolean;
  service_documentation: string;
  /** RFC 9728 §4 */
  protected_resources: string[];
}

/** A value of a metadata field: a number for `int` and `float`, else a text */
export type MetadataValue = number | string | bigint;

/** Values by field name; in a request null removes a value */
export type MetadataValues = Record<string, number | string | null | bigint>;

/** An error of the authorization server (RFC 6749 §5.2) */
export type OAuthError = Problem & { error: string; error_description: string };

/** An error (RFC 9457) */
export interface Problem {
  type: string;
  title: string;
  status: number;
  /** What to do about it */
  detail: string;
  code: ProblemCode;
  /** Names the request, as `X-Request-Id` does */
  instance: string;
  violations?: Violation[];
  [name: string]: unknown;
}

/** A code of the closed list of errors */
export type ProblemCode =
  | 'request.invalid'
  | 'request.unknown-parameter'
  | 'request.malformed-body'
  | 'request.too-large'
  | 'request.unsupported-media-type'
  | 'request.timeout'
  | 'request.expectation-failed'
  | 'request.headers-too-large'
  | 'route.not-found'
  | 'route.method-not-allowed'
  | 'auth.token-missing'
  | 'auth.token-invalid'
  | 'auth.token-malformed'
  | 'auth.token-ambiguous'
  | 'auth.certificate-required'
  | 'auth.client-unknown'
  | 'auth.insufficient-scope'
  | 'auth.forbidden'
  | 'user.not-found'
  | 'group.not-found'
  | 'group.no-such-member'
  | 'group.last-administrator'
  | 'user.exists'
  | 'group.exists'
  | 'site.exists'
  | 'registry.conflict'
  | 'registry.file-rules'
  | 'site.not-found'
  | 'client.not-found'
  | 'client.exists'
  | 'job.not-found'
  | 'job.forbidden'
  | 'job.state-conflict'
  | 'job.no-sandbox'
  | 'job.no-such-file'
  | 'sandbox.damaged'
  | 'sandbox.missing'
  | 'job.limit'
  | 'request.range-not-satisfiable'
  | 'idempotency.in-flight'
  | 'idempotency.mismatch'
  | 'catalogue.directory-not-found'
  | 'catalogue.file-not-found'
  | 'catalogue.field-not-found'
  | 'catalogue.forbidden'
  | 'catalogue.owner-forbidden'
  | 'catalogue.exists'
  | 'catalogue.not-empty'
  | 'catalogue.metadata-conflict'
  | 'catalogue.field-conflict'
  | 'feed.gone'
  | 'webhook.not-found'
  | 'webhook.delivery-not-found'
  | 'webhook.disabled'
  | 'webhook.limit'
  | 'rate.limited'
  | 'service.unavailable'
  | 'service.overloaded'
  | 'service.failure';

/** Body of `POST /oauth2/par`. */
export interface PushedRequestForm {
  client_id?: string;
  /** Secret of a confidential application */
  client_secret?: string;
  /** Of `private_key_jwt`: `urn:ietf:params:oauth:client-assertion-type:jwt-bearer` (RFC 7523) */
  client_assertion_type?: string;
  /** Of `private_key_jwt`: the signed JWT */
  client_assertion?: string;
  response_type: 'code';
  state?: string;
  /** Words separated by blanks */
  scope?: string;
  /** Service that tokens are for; may be repeated */
  audience?: string[];
  /** As audience (RFC 8707) */
  resource?: string[];
  /** PKCE (RFC 7636) */
  code_challenge?: string;
  code_challenge_method?: string;
  /** Goes into the ID token (OpenID Connect) */
  nonce?: string;
  /** `none`, or words of `login`, `consent`, `select_account` separated by blanks (OpenID Connect) */
  prompt?: string;
  /** Seconds since the user signed in, at most (OpenID Connect) */
  max_age?: number;
  /** Who is expected, for the sign-in page and for identity providers (OpenID Connect) */
  login_hint?: string;
  /** An ID token of this application: its user and nobody else is to sign in (OpenID Connect) */
  id_token_hint?: string;
  /** Thumbprint of the DPoP key of the token request, to which the code is then bound (RFC 9449 §10) */
  dpop_jkt?: string;
  response_mode?: 'query';
  /** Group that the application would like; the user decides */
  group?: string;
  /** Setup that the application would like; the user decides */
  setup?: string;
  redirect_uri?: string;
  request_uri?: string;
  request?: string;
  registration?: string;
}

/** Answer of `POST /oauth2/par`. */
export interface PushedRequestResponse {
  /** For `/oauth2/auth`, beside `client_id`; good for one answer */
  request_uri: string;
  /** Seconds within which a browser must come with it */
  expires_in: number;
}

/** Answer of `GET /filecatalogue/directory/{directory}/metadata`. */
export type ReadDirectoryMetadataResponse = Record<string, DirectoryField>;

/** Answer of `GET /filecatalogue/metadata`. */
export type ReadMetadataResponse = Record<string, CompatibleFieldResponse>;

/** Answer of `GET /health/ready`. */
export interface ReadyResponse {
  /** `degraded`: it answers, but cannot write files */
  status: 'ready' | 'degraded' | 'not ready';
  checks: Record<string, string>;
}

/** Body of `PUT /filecatalogue/file/{file}`. */
export interface RegisterFileRequest {
  /** Bytes */
  Size: number;
  /** Checksum */
  Checksum?: string;
  /** Algorithm of the checksum */
  ChecksumType?: string;
  /** GUID */
  GUID?: string;
  /** Mode bits as decimal number */
  Mode?: number;
  /** Replicas by storage element */
  Replicas?: Record<string, ReplicaRequest>;
}

/** Answer of `PATCH /admin/users/{user}`, `POST /admin/users/{user}/disable`, `POST /admin/users/{user}/enable`, `PATCH /admin/groups/{group}`, `PUT /admin/groups/{group}/members/{user}`, `DELETE /admin/groups/{group}/members/{user}`, `PATCH /admin/sites/{site}`. */
export interface RegistryChangeResponse {
  /** Each change as a line; none when everything was so already */
  changes: string[];
  /** Never there: a change stays */
  warnings?: string[];
}

/** Answer of `DELETE /admin/applications/{application}`. */
export interface RemovedApplicationResponse {
  /** The client_id */
  id: string;
  deleted: true;
  /** Never there: a change stays */
  warnings?: string[];
}

/** Answer of `DELETE /webhooks/{id}`. */
export interface RemovedWebhookResponse {
  id: string;
  /** Always true */
  deleted: boolean;
}

/** Part of {@link RegisterFileRequest}. */
export interface ReplicaRequest {
  /** Physical name; may be left out where it follows from the path */
  PFN?: string;
}

/** Part of {@link FileEntryResponse}. */
export interface ReplicaResponse {
  /** Status */
  Status: string;
  /** Physical name; empty where it follows from the path */
  PFN: string;
}

/** Answer of `GET /.well-known/oauth-protected-resource`. */
export interface ResourceMetadataResponse {
  /** The audience of access tokens for this service */
  resource: string;
  /** Issuers of the tokens that it takes */
  authorization_servers: string[];
  scopes_supported: string[];
  /** RFC 6750 §2; without `query` where GRID_QUERY_TOKEN is off */
  bearer_methods_supported: string[];
  resource_name: string;
  resource_documentation: string;
  /** RFC 8705 */
  tls_client_certificate_bound_access_tokens: boolean;
  /** RFC 9449 */
  dpop_signing_alg_values_supported: string[];
  /** False: only some applications need them */
  dpop_bound_access_tokens_required: boolean;
}

/** Answer of `POST /oauth2/revoke`. */
export type RevokeTokenResponse = Record<string, unknown>;

/** Part of {@link SandboxFilesResponse}. */
export interface SandboxFileEntry {
  /** Bytes; of a link those of the file to which it leads */
  size: number;
  name: string;
  /** A symbolic link: the path in the sandbox to which it leads, a file, a directory, or nothing that was brought back. */
  link?: string;
  /** An empty directory, which has no bytes to read; directories with files in them are part of the names of these. */
  directory?: boolean;
  /** Its owner may execute it; of a link the file to which it leads. */
  executable?: boolean;
}

/** Answer of `GET /jobs/{jid}/inputsandbox/files`, `GET /jobs/{jid}/outputsandbox/files`. */
export interface SandboxFilesResponse {
  files: SandboxFileEntry[];
}

/** Answer of `GET /oauth2/setups`. */
export interface SetupsResponse {
  setups: string[];
}

/** Answer of `GET /admin/keys`, `POST /admin/keys/rotation`. */
export interface SigningKeyListResponse {
  keys: SigningKeyResponse[];
}

/** Part of {@link SigningKeyListResponse}. */
export interface SigningKeyResponse {
  /** Its id in the key set and in the head of tokens */
  kid: string;
  algorithm: string;
  /** Which tokens it signs */
  tokens: 'access' | 'id';
  /** `next`: published, and used after the next rotation; `scheduled`: used from `activeFrom` on; `retired`: its last tokens may still live */
  state: 'next' | 'scheduled' | 'signing' | 'retired';
  createdAt: string;
  /** Since when it signs, or from when on */
  activeFrom?: string;
}

/** Answer of `GET /admin/sites`. */
export interface SiteListResponse {
  sites: SiteResponse[];
}

/** Answer of `POST /admin/sites`, `GET /admin/sites/{site}`, `POST /admin/sites/{site}/drain`, `POST /admin/sites/{site}/resume`. */
export interface SiteResponse {
  name: string;
  backend: string;
  /** `drained`: it gets no new jobs */
  state: 'open' | 'drained';
  /** When it was drained */
  since?: string;
  /** Who drained it */
  by?: string;
  /** Why it was drained */
  reason?: string;
  /** How a cluster of its own is reached */
  cluster?: string;
  /** Why nothing can start there now */
  fault?: string;
  /** Setups whose jobs it runs */
  setups?: string[];
  /** Jobs at once */
  slots?: number;
  /** Processors for all of its jobs */
  processors?: number;
  /** MB for all of its jobs */
  ramMB?: number;
  /** GPUs for all of its jobs */
  gpus?: number;
  /** What jobs may ask for by name */
  tags?: string[];
  /** Seconds that a job may run */
  maxWallTime?: number;
  /** Of its jobs: `running`, `waiting`, `tags` */
  limits?: Record<string, unknown>;
  /** Settings of the backend */
  options?: Record<string, unknown>;
}

/** `true`, or with `verbose` the attributes */
export type SubDirectory = true | DirectoryAttributesResponse;

/** Part of {@link AddUserRequest}, {@link ChangeUserRequest}. */
export interface SubjectRequest {
  /** Identity provider */
  issuer: string;
  /** What it calls the user */
  sub: string;
}

/** Part of {@link UserResponse}. */
export interface SubjectResponse {
  issuer: string;
  sub: string;
}

/** One job, or many */
export type SubmitJobsRequest = ManifestRequest | ManifestsRequest;

/** The ids; with `dryRun=true` what would be made */
export type SubmitJobsResponse = SubmitResponse | DryRunResponse;

/** Part of {@link SubmitJobsResponse}. */
export interface SubmitResponse {
  /** Ids of the new jobs, in the order of the manifests */
  jids: number[];
  /** Id of the array that the jobs are; only when one was asked for */
  arrayId?: number;
  /** What looks like a mistake but was accepted, the first 100; absent when there is nothing */
  warnings?: SubmitWarning[];
}

/** Part of {@link DryRunResponse}, {@link SubmitResponse}. */
export interface SubmitWarning {
  code:
    | 'manifest.alias'
    | 'manifest.unknown-key'
    | 'manifest.no-effect'
    | 'manifest.value-split'
    | 'manifest.one-variable'
    | 'manifest.unknown-site'
    | 'manifest.no-site'
    | 'manifest.sites-drained'
    | 'manifest.no-program'
    | 'manifest.script-line-ends'
    | 'manifest.script-byte-order-mark'
    | 'manifest.no-interpreter'
    | 'manifest.no-input-file'
    | 'manifest.input-not-brought'
    | 'manifest.token-scope';
  detail: string;
  /** RFC 6901: into the manifest; of several manifests, however they were sent, into `{"manifests": […]}`. */
  pointer: string;
}

/** Body of `POST /oauth2/token`. */
export interface TokenForm {
  client_id?: string;
  /** Secret of a confidential application */
  client_secret?: string;
  /** Of `private_key_jwt`: `urn:ietf:params:oauth:client-assertion-type:jwt-bearer` (RFC 7523) */
  client_assertion_type?: string;
  /** Of `private_key_jwt`: the signed JWT */
  client_assertion?: string;
  grant_type: string;
  /** Service that the token is for; may be repeated; this one when absent */
  audience?: string[];
  /** As audience (RFC 8707) */
  resource?: string[];
  /** Certificate flow and token exchange */
  group?: string;
  /** Certificate flow and token exchange */
  setup?: string;
  /** Words separated by blanks */
  scope?: string;
  /** Code exchange: the code of the redirect */
  code?: string;
  /** Code exchange: as sent in the first step, if it was */
  redirect_uri?: string;
  /** PKCE (RFC 7636) */
  code_verifier?: string;
  /** Renewal: the refresh token */
  refresh_token?: string;
  /** Device flow (RFC 8628): the device code */
  device_code?: string;
  /** Token exchange (RFC 8693): a token of a provider, or of this service */
  subject_token?: string;
  subject_token_type?:
    'urn:ietf:params:oauth:token-type:access_token' | 'urn:ietf:params:oauth:token-type:jwt';
  /** Token exchange: an access token, which is also given when it is left out */
  requested_token_type?:
    'urn:ietf:params:oauth:token-type:access_token' | 'urn:ietf:params:oauth:token-type:jwt';
  actor_token?: string;
}

/** Answer of `GET /oauth2/token`, `POST /oauth2/token`. */
export interface TokenResponse {
  /** The access token, a JWT (RFC 9068) */
  access_token: string;
  /** The same value, for clients of the older interface */
  token: string;
  /** `DPoP` of a token that is bound to a DPoP key */
  token_type: string;
  /** Seconds that the access token lives */
  expires_in: number;
  scope: string;
  group: string;
  setup: string;
  /** Who the user is, a JWT: with the scope `openid` */
  id_token?: string;
  /** Renews the token; absent in the certificate flow, and with `openid` but without `offline_access` */
  refresh_token?: string;
  /** Only in the answer of a token exchange */
  issued_token_type?: string;
}

/** Answer of `GET /admin/users`. */
export interface UserListResponse {
  /** How many there are on all pages */
  total: number;
  users: UserResponse[];
}

/** Answer of `POST /admin/users`, `GET /admin/users/{user}`. */
export interface UserResponse {
  name: string;
  /** What tokens call the user */
  sub?: string;
  fullName?: string;
  email?: string;
  /** Names of groups, in the order of the registry */
  groups: string[];
  /** Of the jobs: `running` and `waiting` */
  limits?: Record<string, unknown>;
  /** No token is good, whatever the groups are */
  disabled: boolean;
  certificates: CertificateResponse[];
  subjects: SubjectResponse[];
}

/** Answer of `GET /oauth2/userinfo`, `POST /oauth2/userinfo`. */
export interface UserinfoResponse {
  /** The `sub` of the tokens */
  sub: string;
  /** Scope `profile`: for people */
  name?: string;
  /** Scope `profile`: the user name */
  preferred_username?: string;
  /** Scope `email` */
  email?: string;
  /** Scope `email`: false, nobody has tried it */
  email_verified?: boolean;
}

/** What is wrong with one field */
export interface Violation {
  field: string;
  problem: string;
  /** What works instead of what is not offered */
  instead?: string;
}

/** Answer of `GET /webhooks`. */
export interface WebhookListResponse {
  webhooks: WebhookResponse[];
}

/** Answer of `GET /webhooks/{id}`, `PATCH /webhooks/{id}`. */
export interface WebhookResponse {
  id: string;
  url: string;
  source: 'jobs' | 'filecatalogue';
  filter: Record<string, unknown>;
  /** Why it is disabled */
  disabledReason?: string;
  disabledAt?: string;
  /** Its events are those that this user may see */
  user: string;
  /** … in this group */
  group: string;
  /** … and setup */
  setup: string;
  /** … by this application, which made or changed it last */
  application: string;
  createdAt: string;
  updatedAt: string;
  /** Until then the secret before the present one signs as well */
  previousSecretUntil?: string;
  description: string;
  enabled: boolean;
}

/** Answer of `POST /webhooks/{id}/secret`. */
export interface WebhookSecretResponse {
  id: string;
  /** With which receivers check signatures (Standard Webhooks 1.0) */
  secret: string;
  /** Until then the secret before signs as well */
  previousUntil: string;
}

/** Answer of `POST /webhooks/{id}/test`. */
export interface WebhookTestResponse {
  /** Id of the delivery */
  id: string;
  /** The receiver answered with 2xx */
  delivered: boolean;
  /** Status of the answer */
  status?: number;
  /** Why it does not count as delivered */
  error?: string;
}

/** Body of `POST /oauth2/applications`. */
export interface WithdrawForm {
  /** From the page; a form without it is refused */
  csrf: string;
  client_id: string;
}
