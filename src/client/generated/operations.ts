// Generated from docs/openapi.json by scripts/write-client.mjs; do not edit.

import {
  pathPart,
  type BodyText,
  type CallOptions,
  type Conditions,
  type OperationRequest,
} from '../request/operation-request.js';
import type {
  AddApplicationRequest,
  AddGroupRequest,
  AddSiteRequest,
  AddUserRequest,
  AddedApplicationResponse,
  AdministrationAccessResponse,
  ApplicationListResponse,
  ApplicationResponse,
  ArrayKillResponse,
  ArrayResponse,
  ArrayRetryResponse,
  AuditSearchResponse,
  BulkKillResponse,
  CatalogueEventsResponse,
  ChangeGroupRequest,
  ChangeSiteRequest,
  ChangeUserRequest,
  ChangeWebhookRequest,
  DeclareFieldRequest,
  DeletedResponse,
  DeliveryListResponse,
  DeliveryResponse,
  DeviceForm,
  DeviceResponse,
  DirectoryContentsResponse,
  DrainSiteRequest,
  FieldResponse,
  FileAttributesResponse,
  FoundTreeResponse,
  GroupListResponse,
  GroupResponse,
  GroupsResponse,
  InspectForm,
  IntrospectionResponse,
  JobEventsResponse,
  JobExplainResponse,
  JobHistoryResponse,
  JobIdResponse,
  JobListResponse,
  JobParameters,
  JobPeekResponse,
  JobResponse,
  JobSharesResponse,
  JobSummary,
  JobTimelineResponse,
  JobUsageResponse,
  KeySetResponse,
  LiveResponse,
  LookupRequest,
  MadeResponse,
  MadeWebhookResponse,
  MakeDirectoryRequest,
  MakeWebhookRequest,
  ManifestRequest,
  MetadataResponse,
  MetadataValues,
  PushedRequestForm,
  PushedRequestResponse,
  ReadDirectoryMetadataResponse,
  ReadMetadataResponse,
  ReadyResponse,
  RegisterFileRequest,
  RegistryChangeResponse,
  RemovedApplicationResponse,
  RemovedWebhookResponse,
  ResourceMetadataResponse,
  RevokeTokenResponse,
  SandboxFilesResponse,
  SetupsResponse,
  SigningKeyListResponse,
  SiteListResponse,
  SiteResponse,
  SubmitJobsRequest,
  SubmitJobsResponse,
  TokenForm,
  TokenResponse,
  UserListResponse,
  UserResponse,
  UserinfoResponse,
  WebhookListResponse,
  WebhookResponse,
  WebhookSecretResponse,
  WebhookTestResponse,
} from './schemas.js';

/** Query of {@link Operations.getToken}. */
export interface GetTokenQuery {
  client_id?: string;
  grant_type: string;
  /** Service that the token is for; may be repeated; this one when absent */
  audience?: string | string[];
  /** As audience (RFC 8707) */
  resource?: string | string[];
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
}

/** Query of {@link Operations.readMetadata}. */
export interface ReadMetadataQuery {
  /** At most so many values of each field; adds `total`, `min` and `max` */
  maxValues?: number;
  /** Each value as `{"value", "directories"}` with the number of matching directories */
  counts?: boolean;
  /** Metadata conditions: key = field name, value = `operation|value`. `int`, `float`, `date`: `<` `>` `=` `<=` `>=` `!=`; `string`: `in` `nin` with a comma-separated list. Several conditions AND together. */
  conditions?: Conditions;
}

/** Query of {@link Operations.readDirectoryMetadata}. */
export interface ReadDirectoryMetadataQuery {
  /** At most so many values of each field; adds `total`, `min` and `max` */
  maxValues?: number;
  /** Each value as `{"value", "directories"}` with the number of matching directories */
  counts?: boolean;
  /** Metadata conditions: key = field name, value = `operation|value`. `int`, `float`, `date`: `<` `>` `=` `<=` `>=` `!=`; `string`: `in` `nin` with a comma-separated list. Several conditions AND together. */
  conditions?: Conditions;
}

/** Query of {@link Operations.searchDirectory}. */
export interface SearchDirectoryQuery {
  /** Metadata conditions: key = field name, value = `operation|value`. `int`, `float`, `date`: `<` `>` `=` `<=` `>=` `!=`; `string`: `in` `nin` with a comma-separated list. Several conditions AND together. */
  conditions?: Conditions;
}

/** Query of {@link Operations.listRootDirectory}. */
export interface ListRootDirectoryQuery {
  /** With replicas of files and attributes of directories (older name: `extra`) */
  verbose?: boolean;
  /** Entries of one page, directories first, each kind by name; more than 10000 is taken as 10000. Without it the listing is complete */
  limit?: number;
  /** Cursor of the next page, from the `Link` header */
  after?: string;
}

/** Query of {@link Operations.listDirectory}. */
export interface ListDirectoryQuery {
  /** With replicas of files and attributes of directories (older name: `extra`) */
  verbose?: boolean;
  /** Entries of one page, directories first, each kind by name; more than 10000 is taken as 10000. Without it the listing is complete */
  limit?: number;
  /** Cursor of the next page, from the `Link` header */
  after?: string;
}

/** Query of {@link Operations.readFileMetadata}. */
export interface ReadFileMetadataQuery {
  /** Merge the values of the directories above; own values win */
  inherited?: boolean;
}

/** Query of {@link Operations.readCatalogueEvents}. */
export interface ReadCatalogueEventsQuery {
  /** A path, as it is: only what happens at or below it */
  prefix?: string;
  /** Go on behind this position: the `id` of an event, or `Grid-Feed-Position` of a list. Without it, from now on */
  after?: string;
  /** Answer once, as JSON: with the events there are, or after so many seconds without any */
  wait?: number;
}

/** Query of {@link Operations.readJobEvents}. */
export interface ReadJobEventsQuery {
  /** Jobs of all owners whose records you may see */
  allOwners?: boolean;
  /** Last update at or after; a day or an instant */
  fromDate?: string;
  /** Last update before; a day or an instant */
  toDate?: string;
  /** Only jobs with one of these values of `jid` */
  jid?: number | number[];
  /** Only jobs with one of these values of `status` */
  status?:
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
    | 'Deleted'
    | (
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
        | 'Deleted'
      )[];
  /** Only jobs with one of these values of `minorStatus` */
  minorStatus?: string | string[];
  /** Only jobs with one of these values of `appStatus` */
  appStatus?: string | string[];
  /** Only jobs with one of these values of `name` */
  name?: string | string[];
  /** Only jobs with one of these values of `jobGroup` */
  jobGroup?: string | string[];
  /** Only jobs with one of these values of `jobType` */
  jobType?: string | string[];
  /** Only jobs with one of these values of `site` */
  site?: string | string[];
  /** Only jobs with one of these values of `owner` */
  owner?: string | string[];
  /** Only jobs with one of these values of `ownerDN` */
  ownerDN?: string | string[];
  /** Only jobs with one of these values of `ownerGroup` */
  ownerGroup?: string | string[];
  /** Only jobs with one of these values of `vo` */
  vo?: string | string[];
  /** Only jobs with one of these values of `setup` */
  setup?: string | string[];
  /** Only jobs with one of these values of `priority` */
  priority?: number | number[];
  /** Only jobs with one of these values of `cpuTime` */
  cpuTime?: number | number[];
  /** Only jobs with one of these values of `reschedules` */
  reschedules?: number | number[];
  /** Only jobs with one of these values of `arrayId` */
  arrayId?: number | number[];
  /** Only jobs with one of these values of `verified` */
  verified?: boolean | boolean[];
  /** Only jobs with one of these values of `retrieved` */
  retrieved?: boolean | boolean[];
  /** Only jobs with one of these values of `accounted` */
  accounted?: boolean | boolean[];
  /** Only jobs with one of these values of `killed` */
  killed?: boolean | boolean[];
  /** Only jobs with one of these values of `deleted` */
  deleted?: boolean | boolean[];
  /** Only jobs with one of these values of `inputSandboxReady` */
  inputSandboxReady?: boolean | boolean[];
  /** Only jobs with one of these values of `outputSandboxReady` */
  outputSandboxReady?: boolean | boolean[];
  /** Only jobs with one of these values of `submission` */
  submission?: string | string[];
  /** Only jobs with one of these values of `lastUpdate` */
  lastUpdate?: string | string[];
  /** Only jobs with one of these values of `lastSOL` */
  lastSOL?: string | string[];
  /** Only jobs with one of these values of `heartBeat` */
  heartBeat?: string | string[];
  /** Only jobs with one of these values of `startExecution` */
  startExecution?: string | string[];
  /** Only jobs with one of these values of `endExecution` */
  endExecution?: string | string[];
  /** Only jobs with one of these values of `reschedule` */
  reschedule?: string | string[];
  /** Go on behind this position: the `id` of an event, or `Grid-Feed-Position` of a list. Without it, from now on */
  after?: string;
  /** Answer once, as JSON: with the events there are, or after so many seconds without any */
  wait?: number;
}

/** Query of {@link Operations.showJobTimeline}. */
export interface ShowJobTimelineQuery {
  /** Jobs of all owners whose records you may see */
  allOwners?: boolean;
  /** Last update at or after; a day or an instant */
  fromDate?: string;
  /** Last update before; a day or an instant */
  toDate?: string;
  /** Only jobs with one of these values of `jid` */
  jid?: number | number[];
  /** Only jobs with one of these values of `status` */
  status?:
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
    | 'Deleted'
    | (
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
        | 'Deleted'
      )[];
  /** Only jobs with one of these values of `minorStatus` */
  minorStatus?: string | string[];
  /** Only jobs with one of these values of `appStatus` */
  appStatus?: string | string[];
  /** Only jobs with one of these values of `name` */
  name?: string | string[];
  /** Only jobs with one of these values of `jobGroup` */
  jobGroup?: string | string[];
  /** Only jobs with one of these values of `jobType` */
  jobType?: string | string[];
  /** Only jobs with one of these values of `site` */
  site?: string | string[];
  /** Only jobs with one of these values of `owner` */
  owner?: string | string[];
  /** Only jobs with one of these values of `ownerDN` */
  ownerDN?: string | string[];
  /** Only jobs with one of these values of `ownerGroup` */
  ownerGroup?: string | string[];
  /** Only jobs with one of these values of `vo` */
  vo?: string | string[];
  /** Only jobs with one of these values of `setup` */
  setup?: string | string[];
  /** Only jobs with one of these values of `priority` */
  priority?: number | number[];
  /** Only jobs with one of these values of `cpuTime` */
  cpuTime?: number | number[];
  /** Only jobs with one of these values of `reschedules` */
  reschedules?: number | number[];
  /** Only jobs with one of these values of `arrayId` */
  arrayId?: number | number[];
  /** Only jobs with one of these values of `verified` */
  verified?: boolean | boolean[];
  /** Only jobs with one of these values of `retrieved` */
  retrieved?: boolean | boolean[];
  /** Only jobs with one of these values of `accounted` */
  accounted?: boolean | boolean[];
  /** Only jobs with one of these values of `killed` */
  killed?: boolean | boolean[];
  /** Only jobs with one of these values of `deleted` */
  deleted?: boolean | boolean[];
  /** Only jobs with one of these values of `inputSandboxReady` */
  inputSandboxReady?: boolean | boolean[];
  /** Only jobs with one of these values of `outputSandboxReady` */
  outputSandboxReady?: boolean | boolean[];
  /** Only jobs with one of these values of `submission` */
  submission?: string | string[];
  /** Only jobs with one of these values of `lastUpdate` */
  lastUpdate?: string | string[];
  /** Only jobs with one of these values of `lastSOL` */
  lastSOL?: string | string[];
  /** Only jobs with one of these values of `heartBeat` */
  heartBeat?: string | string[];
  /** Only jobs with one of these values of `startExecution` */
  startExecution?: string | string[];
  /** Only jobs with one of these values of `endExecution` */
  endExecution?: string | string[];
  /** Only jobs with one of these values of `reschedule` */
  reschedule?: string | string[];
  /** First step; a day before `to` */
  from?: string;
  /** Last step at the latest; now */
  to?: string;
  /** Seconds between two steps; a hundredth of the whole unless told */
  step?: number;
  /** An attribute by whose present values the counts are divided further */
  group?:
    | 'jid'
    | 'JobID'
    | 'status'
    | 'Status'
    | 'minorStatus'
    | 'MinorStatus'
    | 'appStatus'
    | 'ApplicationStatus'
    | 'name'
    | 'JobName'
    | 'jobGroup'
    | 'JobGroup'
    | 'jobType'
    | 'JobType'
    | 'site'
    | 'Site'
    | 'owner'
    | 'Owner'
    | 'ownerDN'
    | 'OwnerDN'
    | 'ownerGroup'
    | 'OwnerGroup'
    | 'vo'
    | 'VO'
    | 'setup'
    | 'DIRACSetup'
    | 'priority'
    | 'UserPriority'
    | 'cpuTime'
    | 'CPUTime'
    | 'reschedules'
    | 'RescheduleCounter'
    | 'arrayId'
    | 'ArrayID'
    | 'verified'
    | 'VerifiedFlag'
    | 'retrieved'
    | 'RetrievedFlag'
    | 'accounted'
    | 'AccountedFlag'
    | 'killed'
    | 'KilledFlag'
    | 'deleted'
    | 'DeletedFlag'
    | 'inputSandboxReady'
    | 'ISandboxReadyFlag'
    | 'outputSandboxReady'
    | 'OSandboxReadyFlag';
}

/** Query of {@link Operations.showJobShares}. */
export interface ShowJobSharesQuery {
  /** Only this group */
  group?: string;
}

/** Query of {@link Operations.reportJobUsage}. */
export interface ReportJobUsageQuery {
  /** First month or day; the present month unless told */
  from?: string;
  /** Last month or day, which belongs to it; today unless told */
  to?: string;
  /** What the sums are divided by; empty for one sum */
  by?: string;
  /** Only runs of jobs of this group */
  group?: string;
  /** Only runs of jobs of this owner */
  owner?: string;
  /** Only runs at this site */
  site?: string;
}

/** Query of {@link Operations.killArray}. */
export interface KillArrayQuery {
  /** Delete its members afterwards */
  purge?: boolean;
}

/** Query of {@link Operations.listJobs}. */
export interface ListJobsQuery {
  /** Jobs of all owners whose records you may see */
  allOwners?: boolean;
  /** Last update at or after; a day or an instant */
  fromDate?: string;
  /** Last update before; a day or an instant */
  toDate?: string;
  /** Only jobs with one of these values of `jid` */
  jid?: number | number[];
  /** Only jobs with one of these values of `status` */
  status?:
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
    | 'Deleted'
    | (
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
        | 'Deleted'
      )[];
  /** Only jobs with one of these values of `minorStatus` */
  minorStatus?: string | string[];
  /** Only jobs with one of these values of `appStatus` */
  appStatus?: string | string[];
  /** Only jobs with one of these values of `name` */
  name?: string | string[];
  /** Only jobs with one of these values of `jobGroup` */
  jobGroup?: string | string[];
  /** Only jobs with one of these values of `jobType` */
  jobType?: string | string[];
  /** Only jobs with one of these values of `site` */
  site?: string | string[];
  /** Only jobs with one of these values of `owner` */
  owner?: string | string[];
  /** Only jobs with one of these values of `ownerDN` */
  ownerDN?: string | string[];
  /** Only jobs with one of these values of `ownerGroup` */
  ownerGroup?: string | string[];
  /** Only jobs with one of these values of `vo` */
  vo?: string | string[];
  /** Only jobs with one of these values of `setup` */
  setup?: string | string[];
  /** Only jobs with one of these values of `priority` */
  priority?: number | number[];
  /** Only jobs with one of these values of `cpuTime` */
  cpuTime?: number | number[];
  /** Only jobs with one of these values of `reschedules` */
  reschedules?: number | number[];
  /** Only jobs with one of these values of `arrayId` */
  arrayId?: number | number[];
  /** Only jobs with one of these values of `verified` */
  verified?: boolean | boolean[];
  /** Only jobs with one of these values of `retrieved` */
  retrieved?: boolean | boolean[];
  /** Only jobs with one of these values of `accounted` */
  accounted?: boolean | boolean[];
  /** Only jobs with one of these values of `killed` */
  killed?: boolean | boolean[];
  /** Only jobs with one of these values of `deleted` */
  deleted?: boolean | boolean[];
  /** Only jobs with one of these values of `inputSandboxReady` */
  inputSandboxReady?: boolean | boolean[];
  /** Only jobs with one of these values of `outputSandboxReady` */
  outputSandboxReady?: boolean | boolean[];
  /** Only jobs with one of these values of `submission` */
  submission?: string | string[];
  /** Only jobs with one of these values of `lastUpdate` */
  lastUpdate?: string | string[];
  /** Only jobs with one of these values of `lastSOL` */
  lastSOL?: string | string[];
  /** Only jobs with one of these values of `heartBeat` */
  heartBeat?: string | string[];
  /** Only jobs with one of these values of `startExecution` */
  startExecution?: string | string[];
  /** Only jobs with one of these values of `endExecution` */
  endExecution?: string | string[];
  /** Only jobs with one of these values of `reschedule` */
  reschedule?: string | string[];
  /** At most so many jobs; more than `GRID_MAX_JOBS` (10000) is taken as that many */
  maxJobs?: number;
  /** So many jobs are left out at the start; the page is empty behind the last one */
  startJob?: number;
  /** Wire names, minus for descending: `-jid,lastUpdate` */
  sort?: string;
  /** Cursor of the `Link: rel="next"` header */
  after?: string;
}

/** Query of {@link Operations.submitJobs}. */
export interface SubmitJobsQuery {
  /** Check, create nothing */
  dryRun?: boolean;
  /** Make the jobs an array: the same as `"array": true` in the body */
  array?: boolean;
}

/** Query of {@link Operations.killJobs}. */
export interface KillJobsQuery {
  /** Ids, at least one */
  jid: number | number[];
  /** Delete them afterwards */
  purge?: boolean;
}

/** Query of {@link Operations.summarizeJobs}. */
export interface SummarizeJobsQuery {
  /** Jobs of all owners whose records you may see */
  allOwners?: boolean;
  /** Last update at or after; a day or an instant */
  fromDate?: string;
  /** Last update before; a day or an instant */
  toDate?: string;
  /** Only jobs with one of these values of `jid` */
  jid?: number | number[];
  /** Only jobs with one of these values of `status` */
  status?:
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
    | 'Deleted'
    | (
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
        | 'Deleted'
      )[];
  /** Only jobs with one of these values of `minorStatus` */
  minorStatus?: string | string[];
  /** Only jobs with one of these values of `appStatus` */
  appStatus?: string | string[];
  /** Only jobs with one of these values of `name` */
  name?: string | string[];
  /** Only jobs with one of these values of `jobGroup` */
  jobGroup?: string | string[];
  /** Only jobs with one of these values of `jobType` */
  jobType?: string | string[];
  /** Only jobs with one of these values of `site` */
  site?: string | string[];
  /** Only jobs with one of these values of `owner` */
  owner?: string | string[];
  /** Only jobs with one of these values of `ownerDN` */
  ownerDN?: string | string[];
  /** Only jobs with one of these values of `ownerGroup` */
  ownerGroup?: string | string[];
  /** Only jobs with one of these values of `vo` */
  vo?: string | string[];
  /** Only jobs with one of these values of `setup` */
  setup?: string | string[];
  /** Only jobs with one of these values of `priority` */
  priority?: number | number[];
  /** Only jobs with one of these values of `cpuTime` */
  cpuTime?: number | number[];
  /** Only jobs with one of these values of `reschedules` */
  reschedules?: number | number[];
  /** Only jobs with one of these values of `arrayId` */
  arrayId?: number | number[];
  /** Only jobs with one of these values of `verified` */
  verified?: boolean | boolean[];
  /** Only jobs with one of these values of `retrieved` */
  retrieved?: boolean | boolean[];
  /** Only jobs with one of these values of `accounted` */
  accounted?: boolean | boolean[];
  /** Only jobs with one of these values of `killed` */
  killed?: boolean | boolean[];
  /** Only jobs with one of these values of `deleted` */
  deleted?: boolean | boolean[];
  /** Only jobs with one of these values of `inputSandboxReady` */
  inputSandboxReady?: boolean | boolean[];
  /** Only jobs with one of these values of `outputSandboxReady` */
  outputSandboxReady?: boolean | boolean[];
  /** Only jobs with one of these values of `submission` */
  submission?: string | string[];
  /** Only jobs with one of these values of `lastUpdate` */
  lastUpdate?: string | string[];
  /** Only jobs with one of these values of `lastSOL` */
  lastSOL?: string | string[];
  /** Only jobs with one of these values of `heartBeat` */
  heartBeat?: string | string[];
  /** Only jobs with one of these values of `startExecution` */
  startExecution?: string | string[];
  /** Only jobs with one of these values of `endExecution` */
  endExecution?: string | string[];
  /** Only jobs with one of these values of `reschedule` */
  reschedule?: string | string[];
  /** Attributes to count by; default `Status`. More than 10000 counts are refused */
  group?:
    | 'jid'
    | 'JobID'
    | 'status'
    | 'Status'
    | 'minorStatus'
    | 'MinorStatus'
    | 'appStatus'
    | 'ApplicationStatus'
    | 'name'
    | 'JobName'
    | 'jobGroup'
    | 'JobGroup'
    | 'jobType'
    | 'JobType'
    | 'site'
    | 'Site'
    | 'owner'
    | 'Owner'
    | 'ownerDN'
    | 'OwnerDN'
    | 'ownerGroup'
    | 'OwnerGroup'
    | 'vo'
    | 'VO'
    | 'setup'
    | 'DIRACSetup'
    | 'priority'
    | 'UserPriority'
    | 'cpuTime'
    | 'CPUTime'
    | 'reschedules'
    | 'RescheduleCounter'
    | 'arrayId'
    | 'ArrayID'
    | 'verified'
    | 'VerifiedFlag'
    | 'retrieved'
    | 'RetrievedFlag'
    | 'accounted'
    | 'AccountedFlag'
    | 'killed'
    | 'KilledFlag'
    | 'deleted'
    | 'DeletedFlag'
    | 'inputSandboxReady'
    | 'ISandboxReadyFlag'
    | 'outputSandboxReady'
    | 'OSandboxReadyFlag'
    | (
        | 'jid'
        | 'JobID'
        | 'status'
        | 'Status'
        | 'minorStatus'
        | 'MinorStatus'
        | 'appStatus'
        | 'ApplicationStatus'
        | 'name'
        | 'JobName'
        | 'jobGroup'
        | 'JobGroup'
        | 'jobType'
        | 'JobType'
        | 'site'
        | 'Site'
        | 'owner'
        | 'Owner'
        | 'ownerDN'
        | 'OwnerDN'
        | 'ownerGroup'
        | 'OwnerGroup'
        | 'vo'
        | 'VO'
        | 'setup'
        | 'DIRACSetup'
        | 'priority'
        | 'UserPriority'
        | 'cpuTime'
        | 'CPUTime'
        | 'reschedules'
        | 'RescheduleCounter'
        | 'arrayId'
        | 'ArrayID'
        | 'verified'
        | 'VerifiedFlag'
        | 'retrieved'
        | 'RetrievedFlag'
        | 'accounted'
        | 'AccountedFlag'
        | 'killed'
        | 'KilledFlag'
        | 'deleted'
        | 'DeletedFlag'
        | 'inputSandboxReady'
        | 'ISandboxReadyFlag'
        | 'outputSandboxReady'
        | 'OSandboxReadyFlag'
      )[];
}

/** Query of {@link Operations.killJob}. */
export interface KillJobQuery {
  /** Delete it afterwards */
  purge?: boolean;
}

/** Query of {@link Operations.readJobOutput}. */
export interface ReadJobOutputQuery {
  /** Go on with what the job writes until it ends */
  follow?: boolean;
}

/** Query of {@link Operations.listWebhookDeliveries}. */
export interface ListWebhookDeliveriesQuery {
  /** At most so many, newest first; more than 100 is taken as 100 */
  limit?: number;
  /** Only those in this state */
  state?: 'waiting' | 'delivered' | 'failed' | 'withheld';
  /** Cursor of the `Link: rel="next"` header */
  after?: string;
}

/** Query of {@link Operations.listUsers}. */
export interface ListUsersQuery {
  /** Only users with this text in their name, full name, e-mail address, certificates or subjects, in any case */
  search?: string;
  /** At most so many, by name; more than 500 is taken as 500 */
  limit?: number;
  /** Cursor of the `Link: rel="next"` header: only users whose names come after it */
  after?: string;
}

/** Query of {@link Operations.searchAudit}. */
export interface SearchAuditQuery {
  /** Only this event, or all of `job.*` */
  event?: string | string[];
  /** Only what this user did, or this account by command */
  user?: string | string[];
  /** Only what was done in this group */
  group?: string | string[];
  /** Only lines with this field, `key=value`; all that are given apply */
  where?: string | string[];
  /** Only what was done, or was refused */
  outcome?: 'done' | 'refused';
  /** At or after this day or instant */
  since?: string;
  /** Before this day or instant */
  until?: string;
  /** At most so many, newest first; more than 1000 is taken as 1000 */
  maxEvents?: number;
  /** Cursor: `next` of the answer before */
  before?: string;
}

/** Every operation of the interface; how a call is made is up to the class that extends it. */
export abstract class Operations {
  /** Makes the call and answers its body. */
  protected abstract call<T>(request: OperationRequest, options: CallOptions): Promise<T>;

  /** Get an access token, parameters in the query string */
  getToken(query: GetTokenQuery, options: CallOptions = {}): Promise<TokenResponse> {
    return this.call<TokenResponse>(
      { method: 'GET', path: `/oauth2/token`, query, answer: 'json' },
      options,
    );
  }

  /** Get an access token, parameters in a form */
  postToken(body: TokenForm, options: CallOptions = {}): Promise<TokenResponse> {
    return this.call<TokenResponse>(
      {
        method: 'POST',
        path: `/oauth2/token`,
        body,
        type: 'application/x-www-form-urlencoded',
        answer: 'json',
      },
      options,
    );
  }

  /** Groups of the user of the client certificate */
  listGroups(options: CallOptions = {}): Promise<GroupsResponse> {
    return this.call<GroupsResponse>(
      { method: 'GET', path: `/oauth2/groups`, answer: 'json' },
      options,
    );
  }

  /** Setups that the user of the client certificate may use */
  listSetups(options: CallOptions = {}): Promise<SetupsResponse> {
    return this.call<SetupsResponse>(
      { method: 'GET', path: `/oauth2/setups`, answer: 'json' },
      options,
    );
  }

  /** Start a login on a device without browser */
  startDevice(body: DeviceForm, options: CallOptions = {}): Promise<DeviceResponse> {
    return this.call<DeviceResponse>(
      {
        method: 'POST',
        path: `/oauth2/device_authorization`,
        body,
        type: 'application/x-www-form-urlencoded',
        answer: 'json',
      },
      options,
    );
  }

  /** Revoke an access or refresh token (RFC 7009) */
  revokeToken(body: InspectForm, options: CallOptions = {}): Promise<RevokeTokenResponse> {
    return this.call<RevokeTokenResponse>(
      {
        method: 'POST',
        path: `/oauth2/revoke`,
        body,
        type: 'application/x-www-form-urlencoded',
        answer: 'json',
      },
      options,
    );
  }

  /** Ask what a token is worth (RFC 7662) */
  introspectToken(body: InspectForm, options: CallOptions = {}): Promise<IntrospectionResponse> {
    return this.call<IntrospectionResponse>(
      {
        method: 'POST',
        path: `/oauth2/introspect`,
        body,
        type: 'application/x-www-form-urlencoded',
        answer: 'json',
      },
      options,
    );
  }

  /** Public keys of access and ID tokens (RFC 7517) */
  keySet(options: CallOptions = {}): Promise<KeySetResponse> {
    return this.call<KeySetResponse>(
      { method: 'GET', path: `/.well-known/jwks.json`, answer: 'json' },
      options,
    );
  }

  /** What this authorization server can do (RFC 8414) */
  describeServer(options: CallOptions = {}): Promise<MetadataResponse> {
    return this.call<MetadataResponse>(
      { method: 'GET', path: `/.well-known/oauth-authorization-server`, answer: 'json' },
      options,
    );
  }

  /** The same, where OpenID Connect looks for it (Discovery §4) */
  describeProvider(options: CallOptions = {}): Promise<MetadataResponse> {
    return this.call<MetadataResponse>(
      { method: 'GET', path: `/.well-known/openid-configuration`, answer: 'json' },
      options,
    );
  }

  /** Which tokens this service takes, where from, and how (RFC 9728) */
  describeResource(options: CallOptions = {}): Promise<ResourceMetadataResponse> {
    return this.call<ResourceMetadataResponse>(
      { method: 'GET', path: `/.well-known/oauth-protected-resource`, answer: 'json' },
      options,
    );
  }

  /** Who the user of the token is, as far as its scopes allow */
  getUserinfo(options: CallOptions = {}): Promise<UserinfoResponse> {
    return this.call<UserinfoResponse>(
      { method: 'GET', path: `/oauth2/userinfo`, answer: 'json' },
      options,
    );
  }

  /** The same by POST */
  postUserinfo(options: CallOptions = {}): Promise<UserinfoResponse> {
    return this.call<UserinfoResponse>(
      { method: 'POST', path: `/oauth2/userinfo`, answer: 'json' },
      options,
    );
  }

  /** Hand in an authorization request before the browser is sent */
  pushRequest(body: PushedRequestForm, options: CallOptions = {}): Promise<PushedRequestResponse> {
    return this.call<PushedRequestResponse>(
      {
        method: 'POST',
        path: `/oauth2/par`,
        body,
        type: 'application/x-www-form-urlencoded',
        answer: 'json',
      },
      options,
    );
  }

  /** Metadata fields with type and values compatible with the conditions */
  readMetadata(
    query: ReadMetadataQuery = {},
    options: CallOptions = {},
  ): Promise<ReadMetadataResponse> {
    return this.call<ReadMetadataResponse>(
      { method: 'GET', path: `/filecatalogue/metadata`, query, answer: 'json' },
      options,
    );
  }

  /** Declare a metadata field */
  declareField(body: DeclareFieldRequest, options: CallOptions = {}): Promise<FieldResponse> {
    return this.call<FieldResponse>(
      {
        method: 'POST',
        path: `/filecatalogue/metadata`,
        body,
        type: 'application/json',
        answer: 'json',
      },
      options,
    );
  }

  /** Metadata values of the directory compatible with the conditions */
  readDirectoryMetadata(
    directory: string,
    query: ReadDirectoryMetadataQuery = {},
    options: CallOptions = {},
  ): Promise<ReadDirectoryMetadataResponse> {
    return this.call<ReadDirectoryMetadataResponse>(
      {
        method: 'GET',
        path: `/filecatalogue/directory/${pathPart(directory)}/metadata`,
        query,
        answer: 'json',
      },
      options,
    );
  }

  /** Replace the values set on a directory */
  replaceDirectoryMetadata(
    directory: string,
    body: MetadataValues,
    options: CallOptions = {},
  ): Promise<MetadataValues> {
    return this.call<MetadataValues>(
      {
        method: 'PUT',
        path: `/filecatalogue/directory/${pathPart(directory)}/metadata`,
        body,
        type: 'application/json',
        answer: 'json',
      },
      options,
    );
  }

  /** Change values set on a directory; null removes one */
  mergeDirectoryMetadata(
    directory: string,
    body: MetadataValues,
    options: CallOptions = {},
  ): Promise<MetadataValues> {
    return this.call<MetadataValues>(
      {
        method: 'PATCH',
        path: `/filecatalogue/directory/${pathPart(directory)}/metadata`,
        body,
        type: 'application/json',
        answer: 'json',
      },
      options,
    );
  }

  /** Subdirectories that match the metadata conditions, with exact totals */
  searchDirectory(
    directory: string,
    query: SearchDirectoryQuery = {},
    options: CallOptions = {},
  ): Promise<FoundTreeResponse> {
    return this.call<FoundTreeResponse>(
      {
        method: 'GET',
        path: `/filecatalogue/directory/${pathPart(directory)}/search`,
        query,
        answer: 'json',
      },
      options,
    );
  }

  /** Contents of the root directory */
  listRootDirectory(
    query: ListRootDirectoryQuery = {},
    options: CallOptions = {},
  ): Promise<DirectoryContentsResponse> {
    return this.call<DirectoryContentsResponse>(
      { method: 'GET', path: `/filecatalogue/directory`, query, answer: 'json' },
      options,
    );
  }

  /** Contents of a directory */
  listDirectory(
    directory: string,
    query: ListDirectoryQuery = {},
    options: CallOptions = {},
  ): Promise<DirectoryContentsResponse> {
    return this.call<DirectoryContentsResponse>(
      {
        method: 'GET',
        path: `/filecatalogue/directory/${pathPart(directory)}`,
        query,
        answer: 'json',
      },
      options,
    );
  }

  /** Make a directory and those above it */
  makeDirectory(
    directory: string,
    body?: MakeDirectoryRequest,
    options: CallOptions = {},
  ): Promise<MadeResponse> {
    return this.call<MadeResponse>(
      {
        method: 'POST',
        path: `/filecatalogue/directory/${pathPart(directory)}`,
        body,
        type: 'application/json',
        answer: 'json',
      },
      options,
    );
  }

  /** Remove an empty directory */
  deleteDirectory(directory: string, options: CallOptions = {}): Promise<DeletedResponse> {
    return this.call<DeletedResponse>(
      { method: 'DELETE', path: `/filecatalogue/directory/${pathPart(directory)}`, answer: 'json' },
      options,
    );
  }

  /** Attributes of a file */
  readFileAttributes(file: string, options: CallOptions = {}): Promise<FileAttributesResponse> {
    return this.call<FileAttributesResponse>(
      { method: 'GET', path: `/filecatalogue/file/${pathPart(file)}/attributes`, answer: 'json' },
      options,
    );
  }

  /** User metadata of a file: declared fields and free keys */
  readFileMetadata(
    file: string,
    query: ReadFileMetadataQuery = {},
    options: CallOptions = {},
  ): Promise<MetadataValues> {
    return this.call<MetadataValues>(
      {
        method: 'GET',
        path: `/filecatalogue/file/${pathPart(file)}/metadata`,
        query,
        answer: 'json',
      },
      options,
    );
  }

  /** Replace the metadata of a file */
  replaceFileMetadata(
    file: string,
    body: MetadataValues,
    options: CallOptions = {},
  ): Promise<MetadataValues> {
    return this.call<MetadataValues>(
      {
        method: 'PUT',
        path: `/filecatalogue/file/${pathPart(file)}/metadata`,
        body,
        type: 'application/json',
        answer: 'json',
      },
      options,
    );
  }

  /** Change metadata of a file; null removes a key */
  mergeFileMetadata(
    file: string,
    body: MetadataValues,
    options: CallOptions = {},
  ): Promise<MetadataValues> {
    return this.call<MetadataValues>(
      {
        method: 'PATCH',
        path: `/filecatalogue/file/${pathPart(file)}/metadata`,
        body,
        type: 'application/json',
        answer: 'json',
      },
      options,
    );
  }

  /** Attributes of many files, a line each, in the order of their paths */
  lookUpFiles(body: LookupRequest, options: CallOptions = {}): Promise<Blob> {
    return this.call<Blob>(
      {
        method: 'POST',
        path: `/filecatalogue/lookup`,
        body,
        type: 'application/json',
        answer: 'blob',
      },
      options,
    );
  }

  /** Register a file; missing directories are made */
  registerFile(
    file: string,
    body: RegisterFileRequest,
    options: CallOptions = {},
  ): Promise<MadeResponse> {
    return this.call<MadeResponse>(
      {
        method: 'PUT',
        path: `/filecatalogue/file/${pathPart(file)}`,
        body,
        type: 'application/json',
        answer: 'json',
      },
      options,
    );
  }

  /** Remove a file from the catalogue */
  deleteFile(file: string, options: CallOptions = {}): Promise<DeletedResponse> {
    return this.call<DeletedResponse>(
      { method: 'DELETE', path: `/filecatalogue/file/${pathPart(file)}`, answer: 'json' },
      options,
    );
  }

  /** Apply lines of NDJSON in order; each as a whole or not at all */
  applyBulk(body: BodyText, options: CallOptions = {}): Promise<Blob> {
    return this.call<Blob>(
      {
        method: 'POST',
        path: `/filecatalogue/bulk`,
        body,
        type: 'application/x-ndjson',
        answer: 'blob',
      },
      options,
    );
  }

  /**
   * Changes of directories, files and metadata as they happen
   *
   * As server-sent events, as lines with `Accept: application/x-ndjson`, or with `wait` once as JSON. Told is what lists show.
   */
  readCatalogueEvents(
    query: ReadCatalogueEventsQuery = {},
    options: CallOptions = {},
  ): Promise<CatalogueEventsResponse> {
    return this.call<CatalogueEventsResponse>(
      { method: 'GET', path: `/filecatalogue/events`, query, answer: 'json' },
      options,
    );
  }

  /**
   * Moves of jobs as they happen
   *
   * As server-sent events, as lines with `Accept: application/x-ndjson`, or with `wait` once as JSON. Filters: every attribute under both spellings, repeatable; values of one key are alternatives, several keys all apply: `jid` or `JobID`, `status` or `Status`, `minorStatus` or `MinorStatus`, `appStatus` or `ApplicationStatus`, `name` or `JobName`, `jobGroup` or `JobGroup`, `jobType` or `JobType`, `site` or `Site`, `owner` or `Owner`, `ownerDN` or `OwnerDN`, `ownerGroup` or `OwnerGroup`, `vo` or `VO`, `setup` or `DIRACSetup`, `priority` or `UserPriority`, `cpuTime` or `CPUTime`, `reschedules` or `RescheduleCounter`, `arrayId` or `ArrayID`, `verified` or `VerifiedFlag`, `retrieved` or `RetrievedFlag`, `accounted` or `AccountedFlag`, `killed` or `KilledFlag`, `deleted` or `DeletedFlag`, `inputSandboxReady` or `ISandboxReadyFlag`, `outputSandboxReady` or `OSandboxReadyFlag`, `submission` or `SubmissionTime` or `submissionTime`, `lastUpdate` or `LastUpdateTime` or `lastUpdateTime`, `lastSOL` or `LastSOL`, `heartBeat` or `HeartBeatTime` or `heartBeatTime`, `startExecution` or `StartExecTime` or `startExecTime`, `endExecution` or `EndExecTime` or `endExecTime`, `reschedule` or `RescheduleTime` or `rescheduleTime`. A time is an instant, or a day for the whole day in UTC.
   */
  readJobEvents(
    query: ReadJobEventsQuery = {},
    options: CallOptions = {},
  ): Promise<JobEventsResponse> {
    return this.call<JobEventsResponse>(
      { method: 'GET', path: `/jobs/events`, query, answer: 'json' },
      options,
    );
  }

  /**
   * How many jobs were in which state, in steps of time
   *
   * At each step the jobs that match now are counted by the state in which they were then. Filters: every attribute under both spellings, repeatable; values of one key are alternatives, several keys all apply: `jid` or `JobID`, `status` or `Status`, `minorStatus` or `MinorStatus`, `appStatus` or `ApplicationStatus`, `name` or `JobName`, `jobGroup` or `JobGroup`, `jobType` or `JobType`, `site` or `Site`, `owner` or `Owner`, `ownerDN` or `OwnerDN`, `ownerGroup` or `OwnerGroup`, `vo` or `VO`, `setup` or `DIRACSetup`, `priority` or `UserPriority`, `cpuTime` or `CPUTime`, `reschedules` or `RescheduleCounter`, `arrayId` or `ArrayID`, `verified` or `VerifiedFlag`, `retrieved` or `RetrievedFlag`, `accounted` or `AccountedFlag`, `killed` or `KilledFlag`, `deleted` or `DeletedFlag`, `inputSandboxReady` or `ISandboxReadyFlag`, `outputSandboxReady` or `OSandboxReadyFlag`, `submission` or `SubmissionTime` or `submissionTime`, `lastUpdate` or `LastUpdateTime` or `lastUpdateTime`, `lastSOL` or `LastSOL`, `heartBeat` or `HeartBeatTime` or `heartBeatTime`, `startExecution` or `StartExecTime` or `startExecTime`, `endExecution` or `EndExecTime` or `endExecTime`, `reschedule` or `RescheduleTime` or `rescheduleTime`. A time is an instant, or a day for the whole day in UTC.
   */
  showJobTimeline(
    query: ShowJobTimelineQuery = {},
    options: CallOptions = {},
  ): Promise<JobTimelineResponse> {
    return this.call<JobTimelineResponse>(
      { method: 'GET', path: `/jobs/timeline`, query, answer: 'json' },
      options,
    );
  }

  /**
   * What groups and owners have had of the processors, and are due
   *
   * Groups that have used something lately or have jobs that wait. Who comes next is decided by what was used beside what is due, first between groups, then between the owners of a group (`GET /jobs/<jid>/explain` says it of one job). Seen are your own group, and whose jobs you may see.
   */
  showJobShares(
    query: ShowJobSharesQuery = {},
    options: CallOptions = {},
  ): Promise<JobSharesResponse> {
    return this.call<JobSharesResponse>(
      { method: 'GET', path: `/jobs/shares`, query, answer: 'json' },
      options,
    );
  }

  /**
   * What runs have used: processor time, memory, energy
   *
   * Runs that have ended, by month and group or whatever is asked for, killed and failed ones too; kept when their jobs are deleted. Seen are those of jobs that you may see.
   */
  reportJobUsage(
    query: ReportJobUsageQuery = {},
    options: CallOptions = {},
  ): Promise<JobUsageResponse> {
    return this.call<JobUsageResponse>(
      { method: 'GET', path: `/jobs/usage`, query, answer: 'json' },
      options,
    );
  }

  /** An array and the states of its members */
  getArray(arrayId: number, options: CallOptions = {}): Promise<ArrayResponse> {
    return this.call<ArrayResponse>(
      { method: 'GET', path: `/jobs/arrays/${pathPart(arrayId)}`, answer: 'json' },
      options,
    );
  }

  /**
   * Kill the members of an array
   *
   * Those that have ended stay as they are. To repeat it is harmless.
   */
  killArray(
    arrayId: number,
    query: KillArrayQuery = {},
    options: CallOptions = {},
  ): Promise<ArrayKillResponse> {
    return this.call<ArrayKillResponse>(
      { method: 'DELETE', path: `/jobs/arrays/${pathPart(arrayId)}`, query, answer: 'json' },
      options,
    );
  }

  /**
   * Run the failed members of an array again
   *
   * To repeat it is harmless: only those that have failed anew run again.
   */
  retryArray(arrayId: number, options: CallOptions = {}): Promise<ArrayRetryResponse> {
    return this.call<ArrayRetryResponse>(
      { method: 'POST', path: `/jobs/arrays/${pathPart(arrayId)}/retry`, answer: 'json' },
      options,
    );
  }

  /**
   * List jobs, newest first
   *
   * Filters: every attribute under both spellings, repeatable; values of one key are alternatives, several keys all apply: `jid` or `JobID`, `status` or `Status`, `minorStatus` or `MinorStatus`, `appStatus` or `ApplicationStatus`, `name` or `JobName`, `jobGroup` or `JobGroup`, `jobType` or `JobType`, `site` or `Site`, `owner` or `Owner`, `ownerDN` or `OwnerDN`, `ownerGroup` or `OwnerGroup`, `vo` or `VO`, `setup` or `DIRACSetup`, `priority` or `UserPriority`, `cpuTime` or `CPUTime`, `reschedules` or `RescheduleCounter`, `arrayId` or `ArrayID`, `verified` or `VerifiedFlag`, `retrieved` or `RetrievedFlag`, `accounted` or `AccountedFlag`, `killed` or `KilledFlag`, `deleted` or `DeletedFlag`, `inputSandboxReady` or `ISandboxReadyFlag`, `outputSandboxReady` or `OSandboxReadyFlag`, `submission` or `SubmissionTime` or `submissionTime`, `lastUpdate` or `LastUpdateTime` or `lastUpdateTime`, `lastSOL` or `LastSOL`, `heartBeat` or `HeartBeatTime` or `heartBeatTime`, `startExecution` or `StartExecTime` or `startExecTime`, `endExecution` or `EndExecTime` or `endExecTime`, `reschedule` or `RescheduleTime` or `rescheduleTime`. A time is an instant, or a day for the whole day in UTC.
   */
  listJobs(query: ListJobsQuery = {}, options: CallOptions = {}): Promise<JobListResponse> {
    return this.call<JobListResponse>(
      { method: 'GET', path: `/jobs`, query, answer: 'json' },
      options,
    );
  }

  /** Submit jobs; all of a request or none */
  submitJobs(
    body: SubmitJobsRequest | FormData,
    query: SubmitJobsQuery = {},
    options: CallOptions = {},
  ): Promise<SubmitJobsResponse> {
    return this.call<SubmitJobsResponse>(
      { method: 'POST', path: `/jobs`, query, body, type: 'application/json', answer: 'json' },
      options,
    );
  }

  /**
   * Kill many jobs
   *
   * Each gets its own answer.
   */
  killJobs(query: KillJobsQuery, options: CallOptions = {}): Promise<BulkKillResponse> {
    return this.call<BulkKillResponse>(
      { method: 'DELETE', path: `/jobs`, query, answer: 'json' },
      options,
    );
  }

  /**
   * Count jobs
   *
   * Filters: every attribute under both spellings, repeatable; values of one key are alternatives, several keys all apply: `jid` or `JobID`, `status` or `Status`, `minorStatus` or `MinorStatus`, `appStatus` or `ApplicationStatus`, `name` or `JobName`, `jobGroup` or `JobGroup`, `jobType` or `JobType`, `site` or `Site`, `owner` or `Owner`, `ownerDN` or `OwnerDN`, `ownerGroup` or `OwnerGroup`, `vo` or `VO`, `setup` or `DIRACSetup`, `priority` or `UserPriority`, `cpuTime` or `CPUTime`, `reschedules` or `RescheduleCounter`, `arrayId` or `ArrayID`, `verified` or `VerifiedFlag`, `retrieved` or `RetrievedFlag`, `accounted` or `AccountedFlag`, `killed` or `KilledFlag`, `deleted` or `DeletedFlag`, `inputSandboxReady` or `ISandboxReadyFlag`, `outputSandboxReady` or `OSandboxReadyFlag`, `submission` or `SubmissionTime` or `submissionTime`, `lastUpdate` or `LastUpdateTime` or `lastUpdateTime`, `lastSOL` or `LastSOL`, `heartBeat` or `HeartBeatTime` or `heartBeatTime`, `startExecution` or `StartExecTime` or `startExecTime`, `endExecution` or `EndExecTime` or `endExecTime`, `reschedule` or `RescheduleTime` or `rescheduleTime`. A time is an instant, or a day for the whole day in UTC.
   */
  summarizeJobs(query: SummarizeJobsQuery = {}, options: CallOptions = {}): Promise<JobSummary> {
    return this.call<JobSummary>(
      { method: 'GET', path: `/jobs/summary`, query, answer: 'json' },
      options,
    );
  }

  /** The record of a job */
  getJob(jid: number, options: CallOptions = {}): Promise<JobResponse> {
    return this.call<JobResponse>(
      { method: 'GET', path: `/jobs/${pathPart(jid)}`, answer: 'json' },
      options,
    );
  }

  /**
   * Kill a job
   *
   * Its processes end within seconds, and it stays readable.
   */
  killJob(
    jid: number,
    query: KillJobQuery = {},
    options: CallOptions = {},
  ): Promise<JobIdResponse> {
    return this.call<JobIdResponse>(
      { method: 'DELETE', path: `/jobs/${pathPart(jid)}`, query, answer: 'json' },
      options,
    );
  }

  /** Run a job again */
  rescheduleJob(jid: number, options: CallOptions = {}): Promise<JobIdResponse> {
    return this.call<JobIdResponse>(
      { method: 'POST', path: `/jobs/${pathPart(jid)}/reschedule`, answer: 'json' },
      options,
    );
  }

  /** Hold a waiting job back */
  holdJob(jid: number, options: CallOptions = {}): Promise<JobIdResponse> {
    return this.call<JobIdResponse>(
      { method: 'POST', path: `/jobs/${pathPart(jid)}/hold`, answer: 'json' },
      options,
    );
  }

  /** Release a held job */
  releaseJob(jid: number, options: CallOptions = {}): Promise<JobIdResponse> {
    return this.call<JobIdResponse>(
      { method: 'POST', path: `/jobs/${pathPart(jid)}/release`, answer: 'json' },
      options,
    );
  }

  /**
   * The manifest of a job
   *
   * With the keys that the service has added.
   */
  getJobManifest(jid: number, options: CallOptions = {}): Promise<ManifestRequest> {
    return this.call<ManifestRequest>(
      { method: 'GET', path: `/jobs/${pathPart(jid)}/manifest`, answer: 'json' },
      options,
    );
  }

  /** Every move of a job, oldest first */
  getJobHistory(jid: number, options: CallOptions = {}): Promise<JobHistoryResponse> {
    return this.call<JobHistoryResponse>(
      { method: 'GET', path: `/jobs/${pathPart(jid)}/history`, answer: 'json' },
      options,
    );
  }

  /**
   * Parameters of a job
   *
   * What was measured and noted: exit code, processor and wall time, host.
   */
  getJobParameters(jid: number, options: CallOptions = {}): Promise<JobParameters> {
    return this.call<JobParameters>(
      { method: 'GET', path: `/jobs/${pathPart(jid)}/parameters`, answer: 'json' },
      options,
    );
  }

  /** The end of the running output */
  peekJob(jid: number, options: CallOptions = {}): Promise<JobPeekResponse> {
    return this.call<JobPeekResponse>(
      { method: 'GET', path: `/jobs/${pathPart(jid)}/peek`, answer: 'json' },
      options,
    );
  }

  /** Why a job still waits */
  explainJob(jid: number, options: CallOptions = {}): Promise<JobExplainResponse> {
    return this.call<JobExplainResponse>(
      { method: 'GET', path: `/jobs/${pathPart(jid)}/explain`, answer: 'json' },
      options,
    );
  }

  /**
   * A file of the output, also while the job runs
   *
   * Files that the job gives back, and its standard output and error as `std.out` and `std.err` whatever their names. Byte ranges are honoured, but not with `follow`: then the answer goes on until the job has ended; with `Accept: text/event-stream` as events `output` (`{"text"}`, and `"base64"` with the bytes where they are no UTF-8, for which U+FFFD stands in the text), `restart` (`{"attempt"}`: the file begins anew) and `end` (`{"reason","status"}`), which `Last-Event-ID` resumes (`<attempt>.<bytes>`).
   */
  readJobOutput(
    jid: number,
    name: string,
    query: ReadJobOutputQuery = {},
    options: CallOptions = {},
  ): Promise<Blob> {
    return this.call<Blob>(
      {
        method: 'GET',
        path: `/jobs/${pathPart(jid)}/output/${pathPart(name)}`,
        query,
        answer: 'blob',
      },
      options,
    );
  }

  /**
   * The input sandbox as tar.gz
   *
   * The files that the job was submitted with.
   */
  getInputSandbox(jid: number, options: CallOptions = {}): Promise<Blob> {
    return this.call<Blob>(
      { method: 'GET', path: `/jobs/${pathPart(jid)}/inputsandbox`, answer: 'blob' },
      options,
    );
  }

  /**
   * The output sandbox as tar.gz
   *
   * What the job has written.
   */
  getOutputSandbox(jid: number, options: CallOptions = {}): Promise<Blob> {
    return this.call<Blob>(
      { method: 'GET', path: `/jobs/${pathPart(jid)}/outputsandbox`, answer: 'blob' },
      options,
    );
  }

  /** Files of the input sandbox */
  listInputSandbox(jid: number, options: CallOptions = {}): Promise<SandboxFilesResponse> {
    return this.call<SandboxFilesResponse>(
      { method: 'GET', path: `/jobs/${pathPart(jid)}/inputsandbox/files`, answer: 'json' },
      options,
    );
  }

  /** Files of the output sandbox */
  listOutputSandbox(jid: number, options: CallOptions = {}): Promise<SandboxFilesResponse> {
    return this.call<SandboxFilesResponse>(
      { method: 'GET', path: `/jobs/${pathPart(jid)}/outputsandbox/files`, answer: 'json' },
      options,
    );
  }

  /** One file of the input sandbox */
  readInputSandboxFile(jid: number, name: string, options: CallOptions = {}): Promise<Blob> {
    return this.call<Blob>(
      {
        method: 'GET',
        path: `/jobs/${pathPart(jid)}/inputsandbox/files/${pathPart(name)}`,
        answer: 'blob',
      },
      options,
    );
  }

  /** One file of the output sandbox */
  readOutputSandboxFile(jid: number, name: string, options: CallOptions = {}): Promise<Blob> {
    return this.call<Blob>(
      {
        method: 'GET',
        path: `/jobs/${pathPart(jid)}/outputsandbox/files/${pathPart(name)}`,
        answer: 'blob',
      },
      options,
    );
  }

  /** List webhooks, oldest first */
  listWebhooks(options: CallOptions = {}): Promise<WebhookListResponse> {
    return this.call<WebhookListResponse>(
      { method: 'GET', path: `/webhooks`, answer: 'json' },
      options,
    );
  }

  /**
   * Have changes sent to a receiver
   *
   * Beside `webhooks` it takes the scope with which the changes can be read.
   */
  addWebhook(body: MakeWebhookRequest, options: CallOptions = {}): Promise<MadeWebhookResponse> {
    return this.call<MadeWebhookResponse>(
      { method: 'POST', path: `/webhooks`, body, type: 'application/json', answer: 'json' },
      options,
    );
  }

  /** A webhook */
  getWebhook(id: string, options: CallOptions = {}): Promise<WebhookResponse> {
    return this.call<WebhookResponse>(
      { method: 'GET', path: `/webhooks/${pathPart(id)}`, answer: 'json' },
      options,
    );
  }

  /** Change, stop or resume a webhook */
  changeWebhook(
    id: string,
    body: ChangeWebhookRequest,
    options: CallOptions = {},
  ): Promise<WebhookResponse> {
    return this.call<WebhookResponse>(
      {
        method: 'PATCH',
        path: `/webhooks/${pathPart(id)}`,
        body,
        type: 'application/json',
        answer: 'json',
      },
      options,
    );
  }

  /** Remove a webhook with its deliveries */
  removeWebhook(id: string, options: CallOptions = {}): Promise<RemovedWebhookResponse> {
    return this.call<RemovedWebhookResponse>(
      { method: 'DELETE', path: `/webhooks/${pathPart(id)}`, answer: 'json' },
      options,
    );
  }

  /** Give a webhook a new secret; for a day both sign */
  rotateWebhookSecret(id: string, options: CallOptions = {}): Promise<WebhookSecretResponse> {
    return this.call<WebhookSecretResponse>(
      { method: 'POST', path: `/webhooks/${pathPart(id)}/secret`, answer: 'json' },
      options,
    );
  }

  /** Send a test message now, once, and say what came of it */
  testWebhook(id: string, options: CallOptions = {}): Promise<WebhookTestResponse> {
    return this.call<WebhookTestResponse>(
      { method: 'POST', path: `/webhooks/${pathPart(id)}/test`, answer: 'json' },
      options,
    );
  }

  /** List deliveries, newest first */
  listWebhookDeliveries(
    id: string,
    query: ListWebhookDeliveriesQuery = {},
    options: CallOptions = {},
  ): Promise<DeliveryListResponse> {
    return this.call<DeliveryListResponse>(
      { method: 'GET', path: `/webhooks/${pathPart(id)}/deliveries`, query, answer: 'json' },
      options,
    );
  }

  /** Send a message again, or now if it waits */
  replayWebhookDelivery(
    id: string,
    delivery: string,
    options: CallOptions = {},
  ): Promise<DeliveryResponse> {
    return this.call<DeliveryResponse>(
      {
        method: 'POST',
        path: `/webhooks/${pathPart(id)}/deliveries/${pathPart(delivery)}/replay`,
        answer: 'json',
      },
      options,
    );
  }

  /** Whether the bearer may administer the service, or could with another scope */
  getAdministrationAccess(options: CallOptions = {}): Promise<AdministrationAccessResponse> {
    return this.call<AdministrationAccessResponse>(
      { method: 'GET', path: `/admin/access`, answer: 'json' },
      options,
    );
  }

  /** List users, by name */
  listUsers(query: ListUsersQuery = {}, options: CallOptions = {}): Promise<UserListResponse> {
    return this.call<UserListResponse>(
      { method: 'GET', path: `/admin/users`, query, answer: 'json' },
      options,
    );
  }

  /**
   * Add a user
   *
   * Without a certificate or a subject nobody signs in as the user. Whoever is added under the name of a user who was removed has their jobs and files.
   */
  addUser(body: AddUserRequest, options: CallOptions = {}): Promise<UserResponse> {
    return this.call<UserResponse>(
      { method: 'POST', path: `/admin/users`, body, type: 'application/json', answer: 'json' },
      options,
    );
  }

  /** A user with certificates and groups */
  getUser(user: string, options: CallOptions = {}): Promise<UserResponse> {
    return this.call<UserResponse>(
      { method: 'GET', path: `/admin/users/${pathPart(user)}`, answer: 'json' },
      options,
    );
  }

  /** Change a user: what is left out stays, null takes away */
  changeUser(
    user: string,
    body: ChangeUserRequest,
    options: CallOptions = {},
  ): Promise<RegistryChangeResponse> {
    return this.call<RegistryChangeResponse>(
      {
        method: 'PATCH',
        path: `/admin/users/${pathPart(user)}`,
        body,
        type: 'application/json',
        answer: 'json',
      },
      options,
    );
  }

  /**
   * Remove a user, from all groups, too; no token is good any more
   *
   * Jobs go on, and jobs and files stay with the name. The subject of the user's tokens is never given to another.
   */
  removeUser(user: string, options: CallOptions = {}): Promise<void> {
    return this.call<void>(
      { method: 'DELETE', path: `/admin/users/${pathPart(user)}`, answer: 'nothing' },
      options,
    );
  }

  /**
   * Disable a user: no token is good any more
   *
   * The groups stay for `POST /admin/users/{user}/enable`.
   */
  disableUser(user: string, options: CallOptions = {}): Promise<RegistryChangeResponse> {
    return this.call<RegistryChangeResponse>(
      { method: 'POST', path: `/admin/users/${pathPart(user)}/disable`, answer: 'json' },
      options,
    );
  }

  /** Enable a user who was disabled, with the groups as they are */
  enableUser(user: string, options: CallOptions = {}): Promise<RegistryChangeResponse> {
    return this.call<RegistryChangeResponse>(
      { method: 'POST', path: `/admin/users/${pathPart(user)}/enable`, answer: 'json' },
      options,
    );
  }

  /** List groups, in the order of the registry */
  listAllGroups(options: CallOptions = {}): Promise<GroupListResponse> {
    return this.call<GroupListResponse>(
      { method: 'GET', path: `/admin/groups`, answer: 'json' },
      options,
    );
  }

  /**
   * Add a group
   *
   * Setups with a list of groups are not open to it: the registry file says which they are.
   */
  addGroup(body: AddGroupRequest, options: CallOptions = {}): Promise<GroupResponse> {
    return this.call<GroupResponse>(
      { method: 'POST', path: `/admin/groups`, body, type: 'application/json', answer: 'json' },
      options,
    );
  }

  /** A group with its members */
  getGroup(group: string, options: CallOptions = {}): Promise<GroupResponse> {
    return this.call<GroupResponse>(
      { method: 'GET', path: `/admin/groups/${pathPart(group)}`, answer: 'json' },
      options,
    );
  }

  /** Change a group: what is left out stays, null takes away */
  changeGroup(
    group: string,
    body: ChangeGroupRequest,
    options: CallOptions = {},
  ): Promise<RegistryChangeResponse> {
    return this.call<RegistryChangeResponse>(
      {
        method: 'PATCH',
        path: `/admin/groups/${pathPart(group)}`,
        body,
        type: 'application/json',
        answer: 'json',
      },
      options,
    );
  }

  /**
   * Remove a group that has no members, also from the setups that name it
   *
   * Jobs and files stay with its name.
   */
  removeGroup(group: string, options: CallOptions = {}): Promise<void> {
    return this.call<void>(
      { method: 'DELETE', path: `/admin/groups/${pathPart(group)}`, answer: 'nothing' },
      options,
    );
  }

  /** Take a user into a group */
  addGroupMember(
    group: string,
    user: string,
    options: CallOptions = {},
  ): Promise<RegistryChangeResponse> {
    return this.call<RegistryChangeResponse>(
      {
        method: 'PUT',
        path: `/admin/groups/${pathPart(group)}/members/${pathPart(user)}`,
        answer: 'json',
      },
      options,
    );
  }

  /** Take a user out of a group; tokens for it end */
  removeGroupMember(
    group: string,
    user: string,
    options: CallOptions = {},
  ): Promise<RegistryChangeResponse> {
    return this.call<RegistryChangeResponse>(
      {
        method: 'DELETE',
        path: `/admin/groups/${pathPart(group)}/members/${pathPart(user)}`,
        answer: 'json',
      },
      options,
    );
  }

  /** List applications, in the order of the registry */
  listApplications(options: CallOptions = {}): Promise<ApplicationListResponse> {
    return this.call<ApplicationListResponse>(
      { method: 'GET', path: `/admin/applications`, answer: 'json' },
      options,
    );
  }

  /** Register an application; a secret is shown this one time */
  addApplication(
    body: AddApplicationRequest,
    options: CallOptions = {},
  ): Promise<AddedApplicationResponse> {
    return this.call<AddedApplicationResponse>(
      {
        method: 'POST',
        path: `/admin/applications`,
        body,
        type: 'application/json',
        answer: 'json',
      },
      options,
    );
  }

  /** An application */
  getApplication(application: string, options: CallOptions = {}): Promise<ApplicationResponse> {
    return this.call<ApplicationResponse>(
      { method: 'GET', path: `/admin/applications/${pathPart(application)}`, answer: 'json' },
      options,
    );
  }

  /** Remove an application; its tokens are refused from now on */
  removeApplication(
    application: string,
    options: CallOptions = {},
  ): Promise<RemovedApplicationResponse> {
    return this.call<RemovedApplicationResponse>(
      { method: 'DELETE', path: `/admin/applications/${pathPart(application)}`, answer: 'json' },
      options,
    );
  }

  /** List signing keys */
  listSigningKeys(options: CallOptions = {}): Promise<SigningKeyListResponse> {
    return this.call<SigningKeyListResponse>(
      { method: 'GET', path: `/admin/keys`, answer: 'json' },
      options,
    );
  }

  /**
   * Let the next signing keys take over
   *
   * At once when they have been published for ten minutes, else when they will have been; tokens stay good.
   */
  rotateSigningKeys(options: CallOptions = {}): Promise<SigningKeyListResponse> {
    return this.call<SigningKeyListResponse>(
      { method: 'POST', path: `/admin/keys/rotation`, answer: 'json' },
      options,
    );
  }

  /** List sites, in the order of the registry */
  listSites(options: CallOptions = {}): Promise<SiteListResponse> {
    return this.call<SiteListResponse>(
      { method: 'GET', path: `/admin/sites`, answer: 'json' },
      options,
    );
  }

  /**
   * Add a site
   *
   * How a cluster of its own and the network are reached (`connection`, `network`) only the registry file and the command beside the service say.
   */
  addSite(body: AddSiteRequest, options: CallOptions = {}): Promise<SiteResponse> {
    return this.call<SiteResponse>(
      { method: 'POST', path: `/admin/sites`, body, type: 'application/json', answer: 'json' },
      options,
    );
  }

  /** A site with its drain */
  getSite(site: string, options: CallOptions = {}): Promise<SiteResponse> {
    return this.call<SiteResponse>(
      { method: 'GET', path: `/admin/sites/${pathPart(site)}`, answer: 'json' },
      options,
    );
  }

  /** Change a site: what is left out stays, null takes away */
  changeSite(
    site: string,
    body: ChangeSiteRequest,
    options: CallOptions = {},
  ): Promise<RegistryChangeResponse> {
    return this.call<RegistryChangeResponse>(
      {
        method: 'PATCH',
        path: `/admin/sites/${pathPart(site)}`,
        body,
        type: 'application/json',
        answer: 'json',
      },
      options,
    );
  }

  /**
   * Remove a site, with its drain; what runs there goes on to its end
   *
   * Jobs that wait for it wait until they are killed, or a site of the name is there again.
   */
  removeSite(site: string, options: CallOptions = {}): Promise<void> {
    return this.call<void>(
      { method: 'DELETE', path: `/admin/sites/${pathPart(site)}`, answer: 'nothing' },
      options,
    );
  }

  /** Give a site no new jobs; what runs there goes on */
  drainSite(
    site: string,
    body: DrainSiteRequest,
    options: CallOptions = {},
  ): Promise<SiteResponse> {
    return this.call<SiteResponse>(
      {
        method: 'POST',
        path: `/admin/sites/${pathPart(site)}/drain`,
        body,
        type: 'application/json',
        answer: 'json',
      },
      options,
    );
  }

  /** Give a drained site jobs again */
  resumeSite(site: string, options: CallOptions = {}): Promise<SiteResponse> {
    return this.call<SiteResponse>(
      { method: 'POST', path: `/admin/sites/${pathPart(site)}/resume`, answer: 'json' },
      options,
    );
  }

  /**
   * Search the audit trail of all instances, newest first
   *
   * Of groups with ServiceAdministrator; lines are there for `GRID_AUDIT_RETENTION` days, a second after they were written at
   * the latest. Every search is in the trail itself.
   */
  searchAudit(
    query: SearchAuditQuery = {},
    options: CallOptions = {},
  ): Promise<AuditSearchResponse> {
    return this.call<AuditSearchResponse>(
      { method: 'GET', path: `/admin/audit`, query, answer: 'json' },
      options,
    );
  }

  /** Is the process alive? */
  healthLive(options: CallOptions = {}): Promise<LiveResponse> {
    return this.call<LiveResponse>(
      { method: 'GET', path: `/health/live`, answer: 'json' },
      options,
    );
  }

  /** May this instance be sent requests? */
  healthReady(options: CallOptions = {}): Promise<ReadyResponse> {
    return this.call<ReadyResponse>(
      { method: 'GET', path: `/health/ready`, answer: 'json' },
      options,
    );
  }
}
