// Generated from docs/openapi.json by scripts/write-client.mjs; do not edit.

export interface BulkKillResponse {
  results: Record<string, BulkKillResult>;
}

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

export interface ConsentForm {
  /** From the page; a form without it is refused */
  csrf: string;
  decision: 'allow' | 'deny';
  group?: string;
  setup?: string;
}

export interface CountedValueResponse {
  value: MetadataValue;
  /** Matching directories */
  directories: number;
}

export interface DeclareFieldRequest {
  /** Name of the field */
  name: string;
  /** Type of its values */
  type: 'int' | 'float' | 'string' | 'date';
}

export interface DeletedResponse {
  /** Path in the catalogue */
  path: string;
  /** Always true */
  deleted: boolean;
}

export interface DeviceDecisionForm {
  /** From the page; a form without it is refused */
  csrf: string;
  user_code: string;
  group?: string;
  setup?: string;
  /** Absent: look the code up */
  decision?: 'allow' | 'deny';
}

export interface DeviceForm {
  client_id: string;
  /** Words separated by blanks */
  scope?: string;
  /** Group that the device would like; the user decides */
  group?: string;
  /** Setup that the device would like; the user decides */
  setup?: string;
}

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

export interface DirectoryContentsResponse {
  /** Subdirectories by name: `true`, or with `verbose` their attributes */
  SubDirs: Record<string, SubDirectory>;
  /** Files by name: `MetaData` with the attributes and with `verbose` also `Replicas` */
  Files: Record<string, FileEntryResponse>;
}

/** The values of a field; with `maxValues` an object */
export type DirectoryField = CompatibleValue[] | CappedValues;

export interface DryRunResponse {
  /** How many jobs would be made */
  jobs: number;
  /** The manifests as they would be stored, one for each job */
  manifests: ManifestRequest[];
  /** What looks like a mistake but would be accepted, the first 100 */
  warnings: SubmitWarning[];
  valid: boolean;
}

export interface FieldResponse {
  /** Name of the field */
  name: string;
  /** Type of its values */
  type: string;
}

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

export interface FileEntryResponse {
  MetaData: FileAttributesResponse;
  /** With `verbose`: replicas by storage element */
  Replicas?: Record<string, ReplicaResponse>;
}

export interface FoundTreeResponse {
  /** Files in the directory and below; absent on directories that only lead to a match */
  f?: number;
  /** Bytes of these files */
  s?: number;
  /** Directories inside, by name */
  d?: Record<string, FoundTreeResponse>;
}

export interface GroupsResponse {
  groups: string[];
}

export interface InspectForm {
  /** An access token or a refresh token */
  token: string;
  /** `access_token` or `refresh_token`; only a hint */
  token_type_hint?: string;
  client_id?: string;
  /** Secret of a confidential application */
  client_secret?: string;
}

export interface IntrospectionResponse {
  /** False: dead, unknown or not yours; then nothing else is said */
  active: boolean;
  scope?: string;
  client_id?: string;
  /** User name */
  username?: string;
  /** `Bearer` for access tokens */
  token_type?: string;
  /** Seconds since 1970 */
  exp?: number;
  /** Seconds since 1970 */
  iat?: number;
  sub?: string;
  aud?: string;
  iss?: string;
  jti?: string;
  group?: string;
  setup?: string;
}

export interface JobExplainResponse {
  /** Id of the job */
  jid: number;
  status: string;
  /** Site → reason. */
  sites: Record<string, string>;
}

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

export interface JobHistoryEntry {
  time: string;
  status: string;
  minorStatus: string;
  appStatus: string;
  /** Who moved it: `REST`, `Dispatcher`, an executor, `Reaper`, or a person. */
  source: string;
}

export interface JobHistoryResponse {
  history: JobHistoryEntry[];
}

export interface JobIdResponse {
  /** Id of the job */
  jid: number;
}

export interface JobListResponse {
  /** Number of all matching jobs, not of those on the page */
  entries: number;
  jobs: JobResponse[];
}

/** What was measured and noted, by name */
export type JobParameters = Record<string, string | number | boolean | null>;

export interface JobPeekResponse {
  stdout: string;
  stderr: string;
}

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
}

/** Values joined by `|` → number of jobs */
export type JobSummary = Record<string, number>;

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

export interface KeyResponse {
  kty: string;
  /** Names the key in the header of a token */
  kid: string;
  alg: string;
  use: string;
}

export interface KeySetResponse {
  /** Public keys; `kid`, `alg` and `use` are always present */
  keys: KeyResponse[];
}

export interface LeaveForm {
  /** From the page; a form without it is refused */
  csrf: string;
}

export interface LiveResponse {
  status: string;
}

export interface LoginForm {
  /** From the page; a form without it is refused */
  csrf: string;
  /** Own path to come back to */
  return: string;
}

export interface MadeResponse {
  /** Path in the catalogue */
  path: string;
  /** false when it was there already */
  created: boolean;
}

export interface MakeDirectoryRequest {
  /** Mode bits as decimal number */
  Mode?: number;
}

export interface ManifestFormRequest {
  /** A manifest as JSON text; may be repeated */
  manifest: string;
}

export interface ManifestRequest {
  /** An uploaded file, an absolute path, or a name on the PATH of the site. */
  Executable: string;
  /** Seconds of CPU */
  CPUTime?: number;
  /** The queue is ordered by priority, then age */
  Priority?: number;
  /** Processors that the job gets; default 1 */
  NumberOfProcessors?: number;
  /** MB of memory that must be free where it starts */
  MinRAM?: number;
  /** MB of memory; a job that takes more is ended */
  MaxRAM?: number;
  /** Seconds; a job that runs longer is ended */
  WallTime?: number;
  /** What the site must have; sites declare their tags in the registry */
  Tags?: string[];
  /** GPUs that the job gets; default 0 */
  GPUs?: number;
  /** What to call it */
  JobName?: string;
  /** Jobs that belong together */
  JobGroup?: string;
  /** Kind of job */
  JobType?: 'User' | 'Test' | 'Hospital';
  /** Split like a shell splits words, without a shell; a list of texts is taken as it is. */
  Arguments?: string;
  /** Sites on which it may run; none: any. */
  Sites?: string[];
  /** Sites on which it must not run. */
  BannedSites?: string[];
  StdOutput?: string;
  StdError?: string;
  /** Names of uploaded files; uploaded files that are not listed are added. */
  InputSandbox?: string[];
  /** Files and patterns that are brought back; default: both outputs. */
  OutputSandbox?: string[];
  /** Catalogue paths under the virtual organisation, with or without `LFN:`. */
  InputData?: string[];
}

export interface ManifestUploadRequest {
  /** A manifest as JSON text, or a file that holds one; may be repeated */
  manifest: string;
  /** Input files */
  file?: Blob[];
}

export interface ManifestsRequest {
  manifests: ManifestRequest[];
}

export interface MetadataResponse {
  issuer: string;
  authorization_endpoint: string;
  token_endpoint: string;
  jwks_uri: string;
  revocation_endpoint: string;
  introspection_endpoint: string;
  device_authorization_endpoint: string;
  scopes_supported: string[];
  response_types_supported: string[];
  response_modes_supported: string[];
  grant_types_supported: string[];
  code_challenge_methods_supported: string[];
  token_endpoint_auth_methods_supported: string[];
  revocation_endpoint_auth_methods_supported: string[];
  introspection_endpoint_auth_methods_supported: string[];
  /** RFC 9207 */
  authorization_response_iss_parameter_supported: boolean;
  service_documentation: string;
}

/** A value of a metadata field: a number for `int` and `float`, else a text */
export type MetadataValue = number | string;

/** Values by field name; in a request null removes a value */
export type MetadataValues = Record<string, number | string | null>;

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
  | 'client.not-found'
  | 'client.exists'
  | 'job.not-found'
  | 'job.forbidden'
  | 'job.state-conflict'
  | 'job.no-sandbox'
  | 'job.no-such-file'
  | 'request.range-not-satisfiable'
  | 'idempotency.in-flight'
  | 'idempotency.mismatch'
  | 'catalogue.directory-not-found'
  | 'catalogue.file-not-found'
  | 'catalogue.field-not-found'
  | 'catalogue.forbidden'
  | 'catalogue.exists'
  | 'catalogue.not-empty'
  | 'catalogue.metadata-conflict'
  | 'catalogue.field-conflict'
  | 'rate.limited'
  | 'service.unavailable'
  | 'service.overloaded'
  | 'service.failure';

export type ReadDirectoryMetadataResponse = Record<string, DirectoryField>;

export type ReadMetadataResponse = Record<string, CompatibleFieldResponse>;

export interface ReadyResponse {
  status: 'ready' | 'not ready';
  checks: Record<string, string>;
}

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

export interface ReplicaRequest {
  /** Physical name; may be left out where it follows from the path */
  PFN?: string;
}

export interface ReplicaResponse {
  /** Status */
  Status: string;
  /** Physical name; empty where it follows from the path */
  PFN: string;
}

export type RevokeTokenResponse = Record<string, unknown>;

export interface SandboxFileEntry {
  /** Bytes */
  size: number;
  name: string;
}

export interface SandboxFilesResponse {
  files: SandboxFileEntry[];
}

export interface SetupsResponse {
  setups: string[];
}

/** `true`, or with `verbose` the attributes */
export type SubDirectory = true | DirectoryAttributesResponse;

/** One job, or many */
export type SubmitJobsRequest = ManifestRequest | ManifestsRequest;

/** The ids; with `dryRun=true` what would be made */
export type SubmitJobsResponse = SubmitResponse | DryRunResponse;

export interface SubmitResponse {
  /** Ids of the new jobs, in the order of the manifests */
  jids: number[];
  /** What looks like a mistake but was accepted, the first 100; absent when there is nothing */
  warnings?: SubmitWarning[];
}

export interface SubmitWarning {
  code:
    | 'manifest.alias'
    | 'manifest.unknown-key'
    | 'manifest.no-effect'
    | 'manifest.unknown-site'
    | 'manifest.no-site'
    | 'manifest.no-program'
    | 'manifest.no-input-file';
  detail: string;
  /** RFC 6901: into the manifest; of several manifests, however they were sent, into `{"manifests": […]}`. */
  pointer: string;
}

export interface TokenForm {
  grant_type: string;
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
  client_id?: string;
  /** Secret of a confidential application */
  client_secret?: string;
  /** PKCE (RFC 7636) */
  code_verifier?: string;
  /** Renewal: the refresh token */
  refresh_token?: string;
  /** Device flow (RFC 8628): the device code */
  device_code?: string;
  /** Token exchange (RFC 8693): the token of the provider */
  subject_token?: string;
  subject_token_type?: string;
}

export interface TokenResponse {
  /** The access token, a JWT (RFC 9068) */
  access_token: string;
  /** The same value, for clients of the older interface */
  token: string;
  token_type: string;
  /** Seconds that the access token lives */
  expires_in: number;
  scope: string;
  group: string;
  setup: string;
  /** Renews the token; absent in the certificate flow */
  refresh_token?: string;
  /** Only in the answer of a token exchange */
  issued_token_type?: string;
}

/** What is wrong with one field */
export interface Violation {
  field: string;
  problem: string;
}

export interface WithdrawForm {
  /** From the page; a form without it is refused */
  csrf: string;
  client_id: string;
}
